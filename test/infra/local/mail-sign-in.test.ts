import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { startGateway } from '../../../infra/local/gateway.ts';
import { identityProvider } from '../../../infra/local/identity-provider.ts';
import { signInByMail } from '../../../infra/local/mail-sign-in.ts';
import { openPendingSignIns } from '../../../infra/local/pending-sign-ins.ts';
import { makeMailer, readMailSettings } from '../../../shared/notices/mailer.ts';
import { challenge, verifier } from '../../helpers/oauth-client.ts';

interface Received {
  recipients: string[];
  link: string;
  code: string;
}

const inbox: Received[] = [];
let arrived = () => {};
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  async onData(stream, { envelope }, done) {
    const mail = (await text(stream)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    inbox.push({
      recipients: envelope.rcptTo.map(({ address }) => address),
      link: /http\S+/.exec(mail)?.[0] ?? '',
      code: /there: (\d{4} \d{4})/.exec(mail)?.[1] ?? '',
    });
    done();
    arrived();
  },
});

const folder = mkdtempSync(join(tmpdir(), 'mail-sign-in-'));
const key = 'k'.repeat(43);
const gateway = await startGateway({
  port: 0,
  load: async () => () => ({ statusCode: 200, body: '' }),
});
const { origin } = new URL(gateway.url);
const callback = `${origin}/ws/account/callback`;
process.env.AUTH_URL = `${origin}/ws`;
let provider: Awaited<ReturnType<typeof identityProvider>>;
const mount = {
  path: '/identity-provider',
  serve: (...[a, b, c]: Parameters<typeof provider.serve>) => provider.serve(a, b, c),
};
gateway.mount(mount);
let smtp = '';

/** Starts the issuer on the file of sign-ins, as a start of the service does. */
async function start() {
  const pending = openPendingSignIns(join(folder, 'sign-ins.sqlite'));
  const send = makeMailer({ url: smtp, from: 'reviews@example.org' });
  provider = await identityProvider(origin, callback, {
    pending,
    steps: signInByMail({ key, pending, send }),
  });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as { port: number };
  smtp = `smtp://127.0.0.1:${port}`;
  await start();
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await gateway.stop();
  await new Promise<void>((resolve) => server.close(resolve));
});

/** A browser at the page of a new sign-in. */
async function browser() {
  const { OIDC_ISSUER, OIDC_CLIENT_ID } = provider.environment;
  const query = new URLSearchParams({
    client_id: OIDC_CLIENT_ID,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    login_hint: 'prefilled@example.org',
  });
  const { headers } = await fetch(`${OIDC_ISSUER}/auth?${query}`, { redirect: 'manual' });
  const Cookie = headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const url = new URL(headers.get('location') ?? '', origin).href;
  const send = (to: string, form?: Record<string, string>) =>
    fetch(to, {
      method: form ? 'POST' : 'GET',
      headers: { Cookie },
      body: form && new URLSearchParams(form),
      redirect: 'manual',
    });
  return {
    url,
    open: (to = url) => send(to),
    submit: (form: Record<string, string>, to = url) => send(to, form),
    /** Asks for a mail, and returns it. */
    async ask(address: string) {
      const mail = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const answer = await send(url, { address });
      await mail;
      return { answer, mail: inbox.at(-1) as Received };
    },
    /** Returns the claims that the application gets after a sign-in. */
    async claims(signedIn: Response) {
      const resumed = await send(signedIn.headers.get('location') ?? '');
      const { searchParams } = new URL(resumed.headers.get('location') ?? '');
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code: searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: callback,
        client_id: OIDC_CLIENT_ID,
        client_secret: provider.environment.OIDC_CLIENT_SECRET,
      });
      const response = await fetch(`${OIDC_ISSUER}/token`, { method: 'POST', body });
      const { id_token = '' } = (await response.json()) as { id_token?: string };
      return JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
    },
  };
}

/** A sign-in that is refused stays where it is. */
const isSignedIn = ({ status }: Response) => status === 303 || status === 302;

test.each(['link', 'code'] as const)(
  'signs in by %s, once, with a verified address',
  async (way) => {
    const person = await browser();
    const { answer, mail } = await person.ask(`Ann.${way}@Example.org`);
    expect(answer.status).toBe(200);
    expect(mail.recipients).toEqual([`ann.${way}@example.org`]);
    const step = () =>
      way === 'link' ? person.submit({}, mail.link) : person.submit({ code: mail.code });
    const signedIn = await step();
    expect(isSignedIn(signedIn)).toBe(true);
    const claims = await person.claims(signedIn);
    expect(claims).toMatchObject({ email: `ann.${way}@example.org`, email_verified: true });
    expect(claims.sub).toMatch(/^[\w-]{43}$/);
    expect(isSignedIn(await step())).toBe(false);
  },
);

test('signs in once if link and code are sent several times at once', async () => {
  const person = await browser();
  const { mail } = await person.ask('impatient@example.org');
  const answers = await Promise.all([
    person.submit({}, mail.link),
    person.submit({}, mail.link),
    person.submit({ code: mail.code }),
  ]);
  expect(answers.filter(isSignedIn)).toHaveLength(1);
});

test('gives an address the same subject again', async () => {
  const subjects: string[] = [];
  for (const address of ['same@example.org', 'SAME@example.org', 'other@example.org']) {
    const person = await browser();
    const { mail } = await person.ask(address);
    const { sub } = await person.claims(await person.submit({}, mail.link));
    subjects.push(sub);
  }
  expect(subjects[1]).toBe(subjects[0]);
  expect(subjects[2]).not.toBe(subjects[0]);
});

describe('a link', () => {
  test('changes nothing when it is opened, however often and by whom', async () => {
    const person = await browser();
    const { mail } = await person.ask('opened@example.org');
    for (let i = 0; i < 10; i++) {
      const page = await (await person.open(mail.link)).text();
      expect(page).toContain('<button>Sign in</button>');
      expect((await fetch(mail.link, { method: i % 2 ? 'HEAD' : 'GET' })).status).toBe(200);
    }
    expect(isSignedIn(await person.submit({}, mail.link))).toBe(true);
  });

  test('signs in nobody in another browser, which sees a code and no button', async () => {
    const person = await browser();
    const { mail } = await person.ask('forwarded@example.org');
    const stranger = await browser();
    for (const send of [() => stranger.open(mail.link), () => fetch(mail.link)]) {
      const page = await (await send()).text();
      expect(page).toContain(mail.code);
      expect(page).toContain('If you did not ask, close this page.');
      expect(page).not.toContain('<button');
    }
    // A scanner that runs scripts could send a form all the same.
    expect(isSignedIn(await stranger.submit({}, mail.link))).toBe(false);
    expect(isSignedIn(await stranger.submit({ code: mail.code }, person.url))).toBe(false);
    expect(isSignedIn(await stranger.submit({ code: mail.code }))).toBe(false);
    expect(isSignedIn(await fetch(mail.link, { method: 'POST', redirect: 'manual' }))).toBe(false);
    expect(isSignedIn(await person.submit({ code: mail.code }))).toBe(true);
  });

  test('does not sign a victim in as the attacker who asked', async () => {
    const attacker = await browser();
    const { mail } = await attacker.ask('attacker@example.org');
    const victim = await browser();
    expect(isSignedIn(await victim.submit({}, mail.link))).toBe(false);
  });

  test('expires after 15 minutes, as does its code', async () => {
    const person = await browser();
    const { mail } = await person.ask('late@example.org');
    const asked = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(asked + 15 * 60_000 + 1);
    expect(isSignedIn(await person.submit({}, mail.link))).toBe(false);
    expect(isSignedIn(await person.submit({ code: mail.code }))).toBe(false);
  });

  test('is void when another mail was asked for', async () => {
    const person = await browser();
    const { mail } = await person.ask('twice@example.org');
    await person.ask('twice@example.org');
    expect(isSignedIn(await person.submit({}, mail.link))).toBe(false);
  });
});

test('a code is void after five wrong ones', async () => {
  const person = await browser();
  const { mail } = await person.ask('guessed@example.org');
  const wrong = mail.code === '0000 0000' ? '0000 0001' : '0000 0000';
  for (let i = 0; i < 5; i++) {
    expect(isSignedIn(await person.submit({ code: wrong }))).toBe(false);
  }
  expect(isSignedIn(await person.submit({ code: mail.code }))).toBe(false);
  expect(isSignedIn(await person.submit({}, mail.link))).toBe(false);
});

test('an address gets six mails an hour, and the answer stays the same', async () => {
  const first = inbox.length;
  const ask = async () => {
    const person = await browser();
    const answer = await person.submit({ address: 'flooded@example.org' });
    return [answer.status, (await answer.text()).replaceAll(/[\w-]{43}/g, '')];
  };
  const person = await browser();
  await person.ask('flooded@example.org');
  const answers: unknown[] = [];
  for (let i = 0; i < 8; i++) answers.push(await ask());
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  // Mails leave one after the other, so those before this one have arrived.
  while (inbox.length < first + 6) await new Promise((resolve) => setImmediate(resolve));
  const marker = await browser();
  await marker.ask('marker@example.org');
  const flood = inbox.filter(({ recipients }) => recipients[0] === 'flooded@example.org');
  expect(flood).toHaveLength(6);
});

test.each([
  'a@example.org, b@example.org',
  'a@example.org\r\nBcc: b@example.org',
  'a@example.org%0d%0aBcc:b@example.org',
  '"a" <a@example.org>',
  'a',
  '',
  `${'a'.repeat(250)}@example.org`,
])('refuses what is not one address: %j', async (address) => {
  const before = inbox.length;
  const person = await browser();
  expect((await person.submit({ address })).status).toBe(400);
  expect(inbox).toHaveLength(before);
});

test('fills in no address that the URL names', async () => {
  const person = await browser();
  expect(await (await person.open()).text()).not.toContain('prefilled');
});

test('survives a restart, with no link and no code in its files', async () => {
  const person = await browser();
  const { mail } = await person.ask('restart@example.org');
  await start();
  const token = mail.link.split('/').at(-1) ?? '';
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name), 'latin1');
    for (const secret of [token, mail.code, mail.code.replace(' ', '')]) {
      expect(bytes).not.toContain(secret);
    }
  }
  expect(await (await person.open()).text()).toContain('restart@example.org');
  expect(isSignedIn(await person.submit({}, mail.link))).toBe(true);
});

test.each([
  [{ SMTP_URL: 'smtp://mail' }, 'SMTP_URL needs MAIL_FROM: set MAIL_FROM as well'],
  [{ MAIL_FROM: 'a@example.org' }, 'MAIL_FROM needs SMTP_URL: set SMTP_URL as well'],
  [{ SMTP_URL: 'https://mail', MAIL_FROM: 'a@example.org' }, 'SMTP_URL is no address'],
  [{ SMTP_URL: 'smtp://mail', MAIL_FROM: 'Ann' }, 'MAIL_FROM is no e-mail address'],
])('refuses settings that are not complete: %j', (settings, message) => {
  expect(() => readMailSettings(settings)).toThrow(message);
});
