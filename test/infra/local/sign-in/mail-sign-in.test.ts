import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inflateRawSync } from 'node:zlib';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { identityProvider } from '../../../../infra/local/sign-in/identity-provider.ts';
import { writeMails } from '../../../../infra/local/sign-in/mail-folder.ts';
import { signInByMail, stepOf } from '../../../../infra/local/sign-in/mail-sign-in.ts';
import { signInKey } from '../../../../infra/local/storage/key-store.ts';
import { openPendingSignIns } from '../../../../infra/local/storage/pending-sign-ins.ts';
import {
  type Mail,
  makeMailer,
  readMailSettings,
} from '../../../../shared/features/notices/mailer.ts';
import { silence } from '../../../helpers/console.ts';
import { startMailServer } from '../../../helpers/mail-server.ts';
import { challenge } from '../../../helpers/oauth-client.ts';
import { claimsOf, openSignIn } from '../../../helpers/oidc-client.ts';

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
  const { url, jar, ...opened } = await openSignIn(provider.environment, callback, hints);
  const send = (to: string, form?: Record<string, string>) =>
    opened.send(to, { method: form ? 'POST' : 'GET', body: form && new URLSearchParams(form) });
  return {
    url,
    jar,
    open: (to = url) => send(to),
    submit: (form: Record<string, string>, to = url) => send(to, form),
    post: (form: Record<string, string>, headers: Record<string, string>) =>
      opened.send(url, { method: 'POST', body: new URLSearchParams(form), headers }),
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

test('remembers in the browser with which mailbox it signed in, and not the address', async () => {
  const person = await browser();
  const { mail } = await person.ask('remembered@example.org');
  expect([...person.jar.keys()]).not.toContain('known-browser');
  await person.submit({}, mail.link);
  const sealed = person.jar.get('known-browser') ?? '';
  const content = inflateRawSync(Buffer.from(sealed.split('.')[1] ?? '', 'base64url')).toString();
  expect(JSON.parse(content).content).toEqual({
    mailboxes: [expect.stringMatching(/^[\w-]{43}$/)],
  });
});

test('gives an address the same subject again, also in another spelling', async () => {
  const subjects: string[] = [];
  // The mail server of the tests reads the domain of DNS.
  for (const [spelling, read] of [
    ['same@example.org', 'same@example.org'],
    ['SAME@example.org', 'same@example.org'],
    ['eva@Bücher.example', 'eva@bücher.example'],
    ['eva@xn--bcher-kva.example', 'eva@bücher.example'],
  ] as const) {
    const person = await browser();
    await person.submit({ address: spelling });
    const mail = await server.next(read);
    const { sub } = await person.claims(await person.submit({}, mail.link));
    subjects.push(sub);
  }
  const [ann, , eva] = subjects;
  expect(subjects).toEqual([ann, ann, eva, eva]);
  expect(eva).not.toBe(ann);
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', ', in Firefox.'],
  ['Mozilla/5.0 (Windows NT 10.0) Chrome/141.0 Safari/537.36 Edg/141.0', ', in Edge.'],
  ['Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 CriOS/141.0 Safari/604.1', ', in Chrome.'],
  ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/26.0 Safari/605.1.15', ', in Safari.'],
  ['<b>curl</b>', '.'],
])('says when and in which browser it was asked for: %s', async (agent, expected) => {
  const person = await browser();
  const asked = await person.post({ address: 'when@example.org' }, { 'User-Agent': agent });
  expect(asked).toHaveStatus(200);
  const { text, html, link, code } = await server.next('when@example.org');
  const [, time = '', rest] = /this address on (.*? UTC)(.*)$/m.exec(text) ?? [];
  expect(rest).toBe(expected);
  expect(Math.abs(Date.parse(time.replace('UTC', 'GMT')) - Date.now())).toBeLessThan(120_000);
  // The link of the other part has words, which a phone shows in one line.
  expect(html).toContain(`<a href="${link}"`);
  expect(html).toContain('>Sign in to Reviews</a>');
  expect(html).toContain(`<b>${code}</b>`);
  expect(html).not.toContain('<b>curl');
});

test.each([
  ['same-origin', 200],
  ['none', 403],
  ['same-site', 403],
  ['cross-site', 403],
])('takes no form of which a browser says that its site is %s: %d', async (site, status) => {
  const person = await browser();
  const headers = { 'Sec-Fetch-Site': site };
  const answer = await person.post({ address: 'forged@example.org' }, headers);
  expect(answer).toHaveStatus(status);
  const cancelled = await person.post({ cancel: 'yes' }, headers);
  expect(cancelled).toHaveStatus(status === 200 ? 303 : 403);
});

describe('a link', () => {
  test('of an earlier mail, or made up, shows no button and no code', async () => {
    const person = await browser();
    const { mail: first } = await person.ask('twice@example.org');
    const { mail } = await person.ask('twice@example.org');
    for (const link of [first.link, `${mail.link}x`, `${person.url}/x`]) {
      for (const send of [() => person.open(link), () => fetch(link)]) {
        const answer = await send();
        expect(answer).toHaveStatus(400);
        expect(await answer.text()).not.toMatch(/<button|twice@example|\d{4} \d{4}/);
      }
      expect(isSignedIn(await person.submit({}, link))).toBe(false);
    }
  });

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

  test('signs in nobody by planted cookies of the library, neither here nor there', async () => {
    const attacker = await browser();
    const { mail } = await attacker.ask('victim@example.org');
    const victim = await browser();
    // A `__Host-` cookie cannot be planted from a sibling domain. All others can.
    for (const [name, value] of attacker.jar) {
      if (!name.startsWith('interaction-')) victim.jar.set(name, value);
    }
    const page = await (await victim.open(mail.link)).text();
    expect(page).toContain('This is not the browser where the sign-in began.');
    expect(isSignedIn(await victim.submit({}, mail.link))).toBe(false);
    expect(isSignedIn(await victim.submit({ code: mail.code }, attacker.url))).toBe(false);
    const resume = attacker.url.replace('/sign-in/', '/auth/');
    const resumed = await attacker.open(resume);
    expect(resumed.headers.get('location') ?? '').not.toContain('code=');
  });

  test('goes on only in the browser that pressed its button, and once', async () => {
    const person = await browser();
    const { mail } = await person.ask('resumed@example.org');
    const stranger = await browser();
    const before = new Map(person.jar);
    const signedIn = await person.submit({}, mail.link);
    const location = signedIn.headers.get('location') ?? '';
    // What the browser had before its button was pressed does not go on.
    for (const [name, value] of before) stranger.jar.set(name, value);
    const elsewhere = await stranger.open(location);
    expect(elsewhere.headers.get('location') ?? '').not.toContain('code=');
    const copy = new Map(person.jar);
    expect(await person.claims(signedIn)).toMatchObject({ email: 'resumed@example.org' });
    for (const [name, value] of copy) person.jar.set(name, value);
    expect(await person.open(location)).toHaveStatus(400);
  });

  test('demands the cookie of the browser that asked at button, code and resume', async () => {
    const pending = openPendingSignIns(':memory:');
    const inbox: Mail[] = [];
    const send = async (mail: Mail) => void inbox.push(mail);
    const steps = signInByMail({ key, pending, send });
    const asked = {
      id: 'x',
      token: undefined,
      browser: 'asked',
      known: [],
      url: origin,
      client: '',
    };
    await steps.submit(asked, new Map([['address', 'bound@example.org']]));
    const token = /\/([\w-]{43})$/m.exec(inbox[0]?.text ?? '')?.[1];
    const code = /there: (.*)/.exec(inbox[0]?.text ?? '')?.[1] ?? '';
    const other = { ...asked, browser: 'other' };
    for (let i = 0; i < 6; i++) {
      expect(await steps.submit({ ...other, token }, new Map())).toHaveProperty('status', 400);
      const entered = await steps.submit(other, new Map([['code', code]]));
      expect(entered).toHaveProperty('status', 400);
    }
    const step = await steps.submit({ ...asked, token }, new Map());
    const account = 'account' in step ? step.account : '';
    expect(steps.mayResume(account, 'other')).toBe(false);
    expect(steps.mayResume(account, 'asked')).toBe(true);
    steps.end('asked');
    expect(steps.mayResume(account, 'asked')).toBe(false);
    expect(pending.addressOf(account)).toBe('bound@example.org');
  });

  test('expires after 15 minutes, as does its code', async () => {
    const person = await browser();
    const { mail } = await person.ask('late@example.org');
    const asked = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(asked + 15 * 60_000 + 1);
    expect(isSignedIn(await person.submit({}, mail.link))).toBe(false);
    expect(isSignedIn(await person.submit({ code: mail.code }))).toBe(false);
  });
});

describe('a sign-in that only begins', () => {
  test('stores nothing, neither in the file nor in memory', async () => {
    const storedIn = () =>
      readdirSync(folder)
        .filter((name) => name.startsWith('sign-ins.sqlite'))
        .map((name) => readFileSync(join(folder, name)).toString('base64'));
    const before = storedIn();
    for (let i = 0; i < 20; i++) expect(await (await browser()).open()).toHaveStatus(200);
    expect(storedIn()).toEqual(before);
  });

  test('is carried by the browser, which has three at a time', async () => {
    const { send, jar } = await openSignIn(provider.environment, callback);
    const carried = () => [...jar.keys()].filter((name) => name.includes('interaction-'));
    const [first = ''] = carried();
    const begin = new URL(`${provider.environment.OIDC_ISSUER}/auth`);
    begin.search = `${new URLSearchParams({
      client_id: provider.environment.OIDC_CLIENT_ID,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: callback,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })}`;
    // Expiry is in seconds, and the first of all is the oldest.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2_000);
    for (let i = 0; i < 3; i++) await send(begin.href);
    expect(carried()).toHaveLength(3);
    expect(carried()).not.toContain(first);
    for (const line of (await send(begin.href)).headers.getSetCookie()) {
      if (line.startsWith('interaction-')) expect(line).toMatch(/; HttpOnly; SameSite=Lax$/);
    }
  });

  test('costs a client five requests, and its other steps one each', () => {
    const { isDear } = provider;
    expect(isDear('/identity-provider/auth?client_id=x')).toBe(true);
    for (const step of ['sign-in/x', 'auth/x', 'sign-in/x/token', 'token']) {
      expect(isDear(`/identity-provider/${step}`)).toBe(false);
    }
  });
});

describe('the file of sign-ins under way', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sign-ins-')), 'sign-ins.sqlite');
  const mail = { id: 'x', address: 'forgotten@example.org', browser: 'b', token: 't', code: 'c' };

  test('is for its owner alone, and forgets addresses within a minute of their end', () => {
    jest.useFakeTimers();
    const pending = openPendingSignIns(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    pending.save(mail);
    jest.advanceTimersByTime(16 * 60_000);
    pending.close();
    expect(readFileSync(file, 'latin1')).not.toContain('forgotten');
  });

  test('reads rows by an index, however many there are', () => {
    const pending = openPendingSignIns(file);
    pending.close();
    const database = new DatabaseSync(file);
    for (const sql of [
      'DELETE FROM mail WHERE expires_at <= 1',
      'DELETE FROM proof WHERE expires_at <= 1',
      'DELETE FROM sent WHERE expires_at <= 1',
      "SELECT count(*) FROM sent WHERE name = 'x' AND expires_at > 1",
    ]) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect(plan.map(({ detail }) => `${detail}`).join()).toMatch(/^SEARCH .* USING/);
    }
    database.close();
  });

  test('that older code left is replaced', () => {
    const older = new DatabaseSync(file);
    older.exec('PRAGMA user_version = 0; DROP TABLE mail; CREATE TABLE mail (id TEXT);');
    older.close();
    const pending = openPendingSignIns(file);
    pending.save(mail);
    expect(pending.find('x')?.address).toBe(mail.address);
    pending.close();
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

  test('is told about when it is new, and stays', () => {
    const error = silence('error');
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

test('says which part of an address it cannot send to', async () => {
  const person = await browser();
  const refused = await person.submit({ address: 'jörg@example.org' });
  expect(refused).toHaveStatus(400);
  expect(await refused.text()).toContain('only the letters a to z before the @');
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

// Only the sign-in knows the link of an invitation.
test.each([
  ['@club.example', 'eva@any.example', 403],
  ['@club.example', 'eva@club.example', 200],
  ['@club.example,invited', 'eva@any.example', 200],
])('of the members %s, answers somebody new, %s: %d', async (members, address, status) => {
  process.env.MEMBERS = members;
  const person = await browser();
  await person.open();
  const answer = await person.submit({ address });
  expect(answer).toHaveStatus(status);
  if (status === 403) expect(await answer.text()).toContain('This place is for its members');
});

test.each([
  ['an address without its cookie', undefined, undefined, undefined, 'over'],
  ['an address without its cookie, after a mail', 'asked', undefined, undefined, 'over'],
  ['the browser that begins', undefined, undefined, 'own', 'ask'],
  ['the browser that has asked', 'asked', undefined, 'own', 'sent'],
  ['the link of a mail, where it was asked for', 'asked', 'link', 'own', 'button'],
  ['the link of a mail in another browser', 'asked', 'link', 'other', 'code'],
  ['the link of a mail in a browser without cookies', 'asked', 'link', undefined, 'code'],
  ['the link of an earlier mail', 'asked', 'earlier', 'own', 'over'],
  ['a link after the sign-in', undefined, 'link', 'own', 'over'],
] as const)('%s sees its step', (_, mail, token, browser, step) => {
  const asked = mail && { token: 'link', browser: 'own' };
  expect(stepOf({ mail: asked, token, browser })).toBe(step);
});
