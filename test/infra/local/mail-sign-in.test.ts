import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../../infra/local/gateway.ts';
import { identityProvider } from '../../../infra/local/identity-provider.ts';
import { signInKey } from '../../../infra/local/key-store.ts';
import { writeMails } from '../../../infra/local/mail-folder.ts';
import { type Step, signInByMail } from '../../../infra/local/mail-sign-in.ts';
import { openPendingSignIns } from '../../../infra/local/pending-sign-ins.ts';
import { type Mail, makeMailer, readMailSettings } from '../../../shared/notices/mailer.ts';
import { silence } from '../../helpers/console.ts';
import { startMailServer } from '../../helpers/mail-server.ts';
import { claimsOf, openSignIn } from '../../helpers/oidc-client.ts';

const server = await startMailServer();
afterAll(server.stop);
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
  // Limits have tests of their own, so everybody here asks from a network of their own.
  serve: (request: IncomingMessage, response: ServerResponse) =>
    provider.serve(request, response, randomUUID()),
};
gateway.mount(mount);

/** Starts the issuer on the file of sign-ins, as a start of the service does. */
async function start() {
  const pending = openPendingSignIns(join(folder, 'sign-ins.sqlite'));
  const send = makeMailer({ url: server.url, from: 'reviews@example.org' });
  const steps = signInByMail({ key, pending, send });
  provider = await identityProvider(origin, callback, { pending, steps });
}

beforeAll(start);
afterAll(() => gateway.stop());

/** A browser at the page of a new sign-in. */
async function browser() {
  const hints = { login_hint: 'prefilled@example.org' };
  const { url, headers } = await openSignIn(provider.environment, callback, hints);
  const send = (to: string, form?: Record<string, string>) =>
    fetch(to, {
      method: form ? 'POST' : 'GET',
      headers,
      body: form && new URLSearchParams(form),
      redirect: 'manual',
    });
  return {
    url,
    open: (to = url) => send(to),
    submit: (form: Record<string, string>, to = url) => send(to, form),
    /** Asks for a mail, and returns it. */
    async ask(address: string) {
      const answer = await send(url, { address });
      return { answer, mail: await server.next(address.toLowerCase()) };
    },
    /** Returns the claims that the application gets after a sign-in. */
    async claims(signedIn: Response) {
      const resumed = await send(signedIn.headers.get('location') ?? '');
      return claimsOf(provider.environment, callback, resumed);
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
    expect(answer).toHaveStatus(200);
    expect(mail.to).toEqual([`ann.${way}@example.org`]);
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
      expect(await fetch(mail.link, { method: i % 2 ? 'HEAD' : 'GET' })).toHaveStatus(200);
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

describe('the mails of an hour', () => {
  const address = 'flooded@example.org';
  const times = (count: number, ask: (i: number) => [string, string]) =>
    Array.from({ length: count }, (_, i) => ask(i));

  /** Asks as [address, client], and returns the recipients of the mails, and all answers. */
  async function sentFor(asks: [string, string][]) {
    const pending = openPendingSignIns(':memory:');
    const recipients: string[] = [];
    const send = async ({ to }: Mail) => {
      recipients.push(to);
    };
    const { submit } = signInByMail({ key, pending, send });
    const answers: Step[] = [];
    for (const [i, [to, client]] of asks.entries()) {
      const visit = { id: `${i}`, token: undefined, hasAsked: true, url: origin, client };
      answers.push(await submit(visit, new Map([['address', to]])));
    }
    return { pending, recipients, answers };
  }

  test.each<[string, [string, string][], number]>([
    ['4 of a client for an address', times(6, () => [address, '192.0.2.1']), 4],
    ['20 for an address', times(30, (i) => [address, `192.0.2.${i}`]), 20],
    ['30 of a client', times(40, (i) => [`reader${i}@example.org`, '192.0.2.1']), 30],
    ['30 of 64 bits', times(40, (i) => [`reader${i}@example.org`, `2001:db8::${i}`]), 30],
  ])('are %s', async (_, asks, most) => {
    expect((await sentFor(asks)).recipients).toHaveLength(most);
  });

  test('leave some for the owner, whoever in one network asks for more', async () => {
    const flood = times(60, (i) => [address, `2001:db8:0:${i}00::1`]);
    const { recipients } = await sentFor([...flood, ...times(4, () => [address, '192.0.2.1'])]);
    expect(recipients).toHaveLength(16 + 4);
  });

  test('answer the same when they are used up, and leave no code to guess', async () => {
    const asks = times(5, () => [address, '192.0.2.1']);
    const { pending, answers } = await sentFor(asks);
    const pages = answers.map((answer) =>
      'page' in answer ? `${answer.status} ${answer.page}` : '',
    );
    expect(pages[0]).toContain(address);
    expect(new Set(pages).size).toBe(1);
    expect(pending.find('4')).toEqual({ id: '4', address, token: '', code: '' });
  });
});

describe('on a laptop', () => {
  const mails = mkdtempSync(join(tmpdir(), 'mails-'));
  afterEach(start);

  test('the page shows a mail, which is a file too, and names sign in as well', async () => {
    const pending = openPendingSignIns(':memory:');
    const send = writeMails(mails);
    const steps = signInByMail({ key, pending, send, folder: mails });
    provider = await identityProvider(origin, callback, { pending, steps });
    const ann = await browser();
    const asked = await (await ann.open()).text();
    for (const field of ['name', 'address']) expect(asked).toContain(`name="${field}"`);
    const sent = await (await ann.submit({ address: 'ann@example.org' })).text();
    expect(sent).toContain(mails);
    const link = /<a href="([^"]+)"/.exec(sent)?.[1] ?? '';
    const code = /there: (\d{4} \d{4})/.exec(sent)?.[1];
    const [file = ''] = readdirSync(mails);
    expect(readFileSync(join(mails, file), 'utf8')).toContain(`there: ${code}`);
    const claims = await ann.claims(await ann.submit({}, link));
    expect(claims).toMatchObject({ email: 'ann@example.org', email_verified: true });

    const bob = await browser();
    expect(await bob.claims(await bob.submit({ name: 'Bob' }))).toMatchObject({ sub: 'Bob' });
  });
});

describe('the key', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sign-in-key-'));
  const said = () => silence('error');

  test('is told about when it is new, and stays', () => {
    const error = said();
    const first = signInKey(dataDir);
    expect(error.mock.calls.flat().join()).toContain(join(dataDir, 'sign-in-key'));
    expect(signInKey(dataDir)).toBe(first);
    expect(error).toHaveBeenCalledTimes(1);
  });

  test('is not replaced when it is lost or damaged', () => {
    writeFileSync(join(dataDir, 'sign-ins.sqlite'), '');
    writeFileSync(join(dataDir, 'sign-in-key'), 'short');
    expect(() => signInKey(dataDir)).toThrow('is empty or damaged: restore it from a backup');
    rmSync(join(dataDir, 'sign-in-key'));
    expect(() => signInKey(dataDir)).toThrow('is missing: restore it from a backup');
    expect(existsSync(join(dataDir, 'sign-in-key'))).toBe(false);
  });
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
  const before = server.inbox.length;
  const person = await browser();
  expect(await person.submit({ address })).toHaveStatus(400);
  expect(server.inbox).toHaveLength(before);
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
