import { Webhook } from 'standardwebhooks';
import { InvalidSignature, verify } from '../../../infra/client/webhooks.ts';

const [secret, former] = [1, 2].map((each) => `whsec_${Buffer.alloc(32, each).toString('base64')}`);
const message = { type: 'webhook.test', data: { challenge: 'ä' } };
const body = JSON.stringify(message);

/** A request as the reference library of Standard Webhooks signs it. */
function signed(by = `${secret}`, at = new Date()) {
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(by).sign('msg_1', at, body),
  };
  return { headers, body };
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

test.each([
  ['of Node.js', signed(), [secret]],
  ['of Fetch', new Request('https://a.example', { method: 'POST', ...signed() }), [secret]],
  ['by one of two secrets', signed(former), [secret, former]],
  ['of four minutes ago', signed(secret, ago(240)), [secret]],
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
  expect(await verify(request, secrets as string[])).toEqual(message);
});

test.each([
  ['another secret', signed(former), secret],
  ['six minutes ago', signed(secret, ago(360)), secret],
  ['the future', signed(secret, ago(-360)), secret],
  ['no headers', { body, headers: {} }, secret],
  ['another body', { ...signed(), body: `${body} ` }, secret],
  ['another id', { body, headers: { ...signed().headers, 'webhook-id': 'msg_2' } }, secret],
  ['another time', { body, headers: { ...signed().headers, 'webhook-timestamp': '1' } }, secret],
  [
    'a signature that is no Base64',
    { body, headers: { ...signed().headers, 'webhook-signature': 'v1,*' } },
    secret,
  ],
  [
    'a signature of another version',
    {
      body,
      headers: {
        ...signed().headers,
        'webhook-signature': signed().headers['webhook-signature']?.replace('v1,', 'v1a,') ?? '',
      },
    },
    secret,
  ],
])('a message of %s is refused', async (_, request, by) => {
  await expect(verify(request, `${by}`)).rejects.toBeInstanceOf(InvalidSignature);
});
