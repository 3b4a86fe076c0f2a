import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { InvalidSignature, verify } from '../../../infra/client/webhooks.ts';

const base64 = (byte: number, length = 32) => Buffer.alloc(length, byte).toString('base64');
const [secret, former] = [1, 2].map((each) => `whsec_${base64(each)}`) as [string, string];
const message = { type: 'webhook.test', data: { challenge: 'ä' } };
const body = JSON.stringify(message);

/** A request as the reference library of Standard Webhooks signs it. */
function signed(by = secret, at = new Date()) {
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  };
  return { headers, body };
}

/** The headers of a signed request, by other names. */
const renamed = (change: (name: string) => string) =>
  Object.fromEntries(
    Object.entries(signed().headers).map(([name, value]) => [change(name), value]),
  );

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
const capitals = (name: string) => name.replaceAll(/\b\w/g, (letter) => letter.toUpperCase());

test.each([
  ['of Node.js', signed(), [secret]],
  ['of Fetch', new Request('https://a.example', { method: 'POST', ...signed() }), [secret]],
  ['with other Headers than those of Fetch', { body, headers: mapOf(signed().headers) }, [secret]],
  ['with names in capitals', { body, headers: renamed((name) => name.toUpperCase()) }, [secret]],
  ['with Names-Like-This', { body, headers: renamed(capitals) }, [secret]],
  ['with a list for each header', { body, headers: lists(signed().headers) }, [secret]],
  ['by one of two secrets', signed(former), [secret, former]],
  ['of four minutes ago', signed(secret, ago(240)), [secret]],
  ['by a secret without its prefix', signed(), [secret.slice('whsec_'.length)]],
  ['by a secret of 24 bytes', signed(`whsec_${base64(3, 24)}`), [`whsec_${base64(3, 24)}`]],
  [
    'with signatures of both secrets',
    {
      body,
      headers: {
        ...signed().headers,
        'webhook-signature': `${signed(former).headers['webhook-signature']} ${signed().headers['webhook-signature']}`,
      },
    },
    [secret],
  ],
])('a message %s is verified', async (_, request, secrets) => {
  expect(await verify(request, secrets)).toEqual(message);
});

function mapOf(headers: object) {
  return new Map(Object.entries(headers)) as unknown as Headers;
}

function lists(headers: object) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

const withSignature = (signature: string) => ({
  body,
  headers: { ...signed().headers, 'webhook-signature': signature },
});
const goodSignature = signed().headers['webhook-signature'];

test.each([
  ['another secret', signed(former)],
  ['six minutes ago', signed(secret, ago(360))],
  ['the future', signed(secret, ago(-360))],
  ['no headers', { body, headers: {} }],
  ['another body', { ...signed(), body: `${body} ` }],
  ['another id', { body, headers: { ...signed().headers, 'webhook-id': 'msg_2' } }],
  ['another time', { body, headers: { ...signed().headers, 'webhook-timestamp': '1' } }],
  ['no time', { body, headers: { ...signed().headers, 'webhook-timestamp': 'NaN' } }],
  ['no end of time', { body, headers: { ...signed().headers, 'webhook-timestamp': 'Infinity' } }],
  ['no signature', withSignature('')],
  ['an empty signature', withSignature('v1,')],
  ['half a signature', withSignature(goodSignature.slice(0, 24))],
  ['a signature that is no Base64', withSignature('v1,*')],
  ['a signature of another version', withSignature(goodSignature.replace('v1,', 'v1a,'))],
])('a message of %s is refused', async (_, request) => {
  await expect(verify(request, secret)).rejects.toBeInstanceOf(InvalidSignature);
});

/** Keys that everybody can guess, with which a forger signs. */
const guessed = [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(24), Buffer.alloc(32)];

/** A message that is signed with each of these keys. */
function forged(keys: readonly Buffer[]) {
  const time = `${Math.floor(Date.now() / 1000)}`;
  const signatures = keys.map((key) => {
    const mac = createHmac('sha256', key).update(`m1.${time}.${body}`);
    return `v1,${mac.digest('base64')}`;
  });
  const signature = signatures.join(' ');
  const headers = {
    'webhook-id': 'm1',
    'webhook-timestamp': time,
    'webhook-signature': signature,
  };
  return { headers, body };
}

describe.each([
  ['the placeholder of a guide', 'whsec_…'],
  ['three dots', 'whsec_...'],
  ['a word', 'whsec_changeme!'],
  ['a bare word', 'changeme'],
  ['nothing', ''],
  ['a prefix alone', 'whsec_'],
  ['a variable that is not set', undefined as unknown as string],
  ['null', null as unknown as string],
  ['a secret in quotes', `"${secret}"`],
  ['a secret of base64url', `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`],
  ['a secret that is cut off', secret.slice(0, 30)],
  ['a secret of 23 bytes', `whsec_${base64(1, 23)}`],
  ['a key of hexadecimal digits', Buffer.alloc(16, 1).toString('hex').slice(1)],
  ['no secret at all', [] as string[]],
])('%s in place of a secret', (_, wrong) => {
  const secrets = [wrong].flat();
  const keys = [...guessed, ...secrets.map((each) => Buffer.from(`${each}`))];
  const fault = new TypeError(
    'This is not the secret of a webhook: copy “whsec_” and all that follows from its page',
  );

  test.each([
    ['an honest message', signed()],
    ['a forged message', forged(keys)],
    ['a message without headers', { body, headers: {} }],
  ])('throws for %s, also beside a good one', async (_, request) => {
    await expect(verify(request, wrong)).rejects.toThrow(fault);
    if (secrets.length === 0) return;
    for (const both of [
      [secret, ...secrets],
      [...secrets, secret],
    ]) {
      const failure = await verify(request, both).catch((error: unknown) => error);
      expect(failure).toEqual(fault);
      expect(failure).not.toBeInstanceOf(InvalidSignature);
    }
  });
});

test('a message that is signed with keys that everybody knows is refused', async () => {
  await expect(verify(forged(guessed), secret)).rejects.toBeInstanceOf(InvalidSignature);
});
