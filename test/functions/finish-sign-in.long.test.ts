import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { handler as finishSignIn } from '../../functions/pages/finish-sign-in.ts';
import { handler as showAccount } from '../../functions/pages/show-account.ts';
import { handler as showDeletion } from '../../functions/pages/show-account-deletion.ts';
import { handler as signIn } from '../../functions/pages/sign-in.ts';
import { handler as updateAccount } from '../../functions/pages/update-account.ts';
import { contactKey } from '../../shared/core/keys.ts';
import { silence, silenceAll } from '../helpers/console.ts';
import { invoke, type TestResponse } from '../helpers/invoke.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import { serve } from '../helpers/listen.ts';

/** Claims of the next person whom the identity provider signs in. */
let claims: Record<string, unknown> = {};
/** Answer of the UserInfo endpoint, if the provider has one. */
let userInfo: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
let askedForUserInfo = 0;
afterEach(() => {
  userInfo = undefined;
  askedForUserInfo = 0;
});

const { privateKey, publicKey } = await generateKeyPair('RS256');
const provider = createServer(async (request, response) => {
  const answers = async () => {
    if (request.url === '/userinfo') {
      askedForUserInfo += 1;
      return userInfo?.(request, response);
    }
    if (request.url === '/keys') return { keys: [await exportJWK(publicKey)] };
    if (request.url !== '/token') {
      const authorization_endpoint = `${issuer}/authorize`;
      const userinfo_endpoint = `${issuer}/userinfo`;
      const token_endpoint = `${issuer}/token`;
      const jwks_uri = `${issuer}/keys`;
      return { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri };
    }
    const id_token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(issuer)
      .setAudience('reviews')
      .setIssuedAt()
      .setExpirationTime('1 min')
      .sign(privateKey);
    return { access_token: 'x', token_type: 'Bearer', id_token };
  };
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(await answers()));
});
const issuer = await serve(provider);
// Failed sign-ins are logged.
silenceAll('warn');

process.env.OIDC_ISSUER = issuer;
process.env.OIDC_CLIENT_ID = 'reviews';
process.env.OIDC_CLIENT_SECRET = 'secret';

/** Signs in at the provider as a person with these claims. */
async function signInAs(
  said: Record<string, unknown>,
  handler: unknown = finishSignIn,
  return_to?: string,
): Promise<TestResponse> {
  const { headers, cookie } = await begin(return_to === undefined ? {} : { return_to });
  const sent = new URL(headers.location ?? '').searchParams;
  claims = { sub: randomUUID(), ...said, nonce: sent.get('nonce') };
  const query = { code: 'x', state: sent.get('state') ?? '' };
  return invoke(handler, { query, headers: { cookie } });
}

/** Wraps a handler. The last cookie that it sets is in `jar`. */
function keepingCookie(handler: typeof signIn | typeof finishSignIn) {
  const jar = { cookie: '' };
  const keeping = async (...parameters: Parameters<typeof handler>) => {
    const result = await handler(...parameters);
    jar.cookie = `${result.multiValueHeaders?.['Set-Cookie']?.[0]}`.split(';')[0] ?? '';
    return result;
  };
  return { jar, keeping };
}

/** Begins a sign-in. Returns the redirect to the provider, and its cookie. */
async function begin(query: Record<string, string> = {}) {
  const { jar, keeping } = keepingCookie(signIn);
  return { ...(await invoke(keeping, { query })), ...jar };
}

/** Returns the account that a first sign-in makes. */
async function accountOf(said: Record<string, unknown>): Promise<Record<string, unknown>> {
  const before = new Set((await scanTable()).map(({ pk }) => pk));
  expect(await signInAs(said)).toMatchObject({ status: 303 });
  const made = (await scanTable()).filter(({ pk, sk }) => sk === 'USER' && !before.has(pk));
  expect(made).toHaveLength(1);
  return { ...made[0], ...(await readItem(contactKey(String(made[0]?.id)))) };
}

const reader = /^Reader [\da-f]{4}$/;

describe('UserInfo', () => {
  const all = { name: 'Ann', email: 'ann@example.com', musicdb_username: 'ann' };

  test('gives what the ID token lacks', async () => {
    userInfo = ({ headers }) => {
      expect(headers.authorization).toBe('Bearer x');
      return { sub: claims.sub, ...all };
    };
    expect(await accountOf({})).toMatchObject({
      display_name: expect.stringMatching(reader),
      proposed_name: 'Ann',
      email: all.email,
      musicdb_username: 'ann',
    });
    const some = { name: 'Annie', nickname: 'A' };
    expect(await accountOf(some)).toMatchObject({ proposed_name: 'Annie', email: all.email });
    expect(askedForUserInfo).toBe(2);
  });

  test('is not asked for if the ID token has a name and an address', async () => {
    userInfo = () => ({ sub: claims.sub, musicdb_username: 'x' });
    await accountOf({ preferred_username: 'ann', email: 'ann@example.com' });
    expect(askedForUserInfo).toBe(0);
  });

  test.each<[string, NonNullable<typeof userInfo>]>([
    ['is about another subject', () => ({ ...all, sub: 'another' })],
    ['is about nobody', () => all],
    ['is an error', (_, response) => Object.assign(response, { statusCode: 500 }) && all],
    ['is no object', () => null],
  ])('is not used if it %s', async (_, answer) => {
    userInfo = answer;
    const account = await accountOf({ name: 'Ben' });
    expect(askedForUserInfo).toBe(1);
    expect(account).toMatchObject({ proposed_name: 'Ben', email: null, musicdb_username: null });
  });
});

describe('a person without a name', () => {
  test('chooses one first, once, and goes on', async () => {
    const sub = randomUUID();
    const { jar, keeping } = keepingCookie(finishSignIn);
    const first = await signInAs({ sub }, keeping);
    const question = 'https://api.example/ws/account?return_to=';
    const home = 'https://api.example/ws/account';
    expect(first.headers.location).toBe(question + encodeURIComponent(home));
    const query = { return_to: 'https://api.example/ws/account/tokens' };
    const asked = await invoke(showAccount, { query, headers: jar });
    expect(asked.body).toContain('<h1>Choose your public name</h1>');
    expect(asked.body).toMatch(/name="display_name" value="Reader [\da-f]{4}"/);
    const csrf = /name="csrf" value="([^"]+)"/.exec(`${asked.body}`)?.[1] ?? '';
    const form = new URLSearchParams({ csrf, display_name: 'Ann', ...query });
    const headers = { ...jar, 'Content-Type': 'application/x-www-form-urlencoded' };
    const saved = await invoke(updateAccount, { method: 'POST', body: `${form}`, headers });
    expect(saved).toHaveStatus(303);
    expect(saved.headers.location).toEqual(query.return_to);
    const later = await invoke(showAccount, { query, headers: jar });
    expect(later.body).toContain('<h1><bdi>Ann</bdi></h1>');
    expect((await signInAs({ sub })).headers.location).toBe(home);
  });

  test.each([
    '/account',
    '/oauth/authorize?request_id=1',
    '/review/new?entity_id=1',
    '/account/reviews',
  ])('is asked as well if the provider names them, before %s', async (path) => {
    const return_to = `https://api.example/ws${path}`;
    const { headers } = await signInAs({ name: 'Maria Müller' }, finishSignIn, return_to);
    const question = `https://api.example/ws/account?return_to=${encodeURIComponent(return_to)}`;
    expect(headers.location).toBe(question);
  });

  test('has the name of the provider in the form, and nowhere else until it is saved', async () => {
    const { jar, keeping } = keepingCookie(finishSignIn);
    await signInAs({ name: 'Maria Meier' }, keeping);
    const query = { return_to: 'https://api.example/ws/account' };
    const asked = await invoke(showAccount, { query, headers: jar });
    expect(asked.body).toContain('name="display_name" value="Maria Meier"');
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(`${asked.body}`) ?? [];
    const users = (await scanTable()).filter(({ sk }) => sk === 'USER');
    expect(JSON.stringify(users)).not.toContain('Meier');
    const form = new URLSearchParams({ csrf, display_name: 'Mia', ...query });
    const headers = { ...jar, 'Content-Type': 'application/x-www-form-urlencoded' };
    const saved = await invoke(updateAccount, { method: 'POST', body: `${form}`, headers });
    // Somebody new is welcomed, and does not begin among settings.
    expect(saved.headers.location).toBe('https://api.example/ws/');
    expect(`${saved.headers['set-cookie']}`).toContain('notice=welcome');
    expect(JSON.stringify(await scanTable())).not.toContain('Meier');
  });
});

describe('the proposed name of a new account', () => {
  test.each<[string, Record<string, unknown>, string | undefined]>([
    ['the name', { name: 'Ann', nickname: 'annie' }, 'Ann'],
    ['the nickname', { nickname: 'annie', preferred_username: 'a1' }, 'annie'],
    ['the user name', { name: '', preferred_username: 'a1' }, 'a1'],
    ['none if the provider sends none', {}, undefined],
    ['not derived from an email address', { email: 'ann@example.com' }, undefined],
    ['not an email address sent as the name', { name: 'ann@example.com', nickname: 'ann' }, 'ann'],
    ['not a long email address', { name: `${'x'.repeat(60)}@example.com` }, undefined],
    [
      'not of another type',
      { name: ['Ann'], nickname: { a: 1 }, preferred_username: 7 },
      undefined,
    ],
    ['not blank', { name: ' \n\u0000 ', nickname: 'annie' }, 'annie'],
    ['without control characters', { name: '\u0007An\u0000n\r\n' }, 'Ann'],
    ['cut to 64 characters', { name: '名'.repeat(65) }, '名'.repeat(64)],
    ['without a space at its end', { name: `${'x'.repeat(63)} y` }, 'x'.repeat(63)],
    ['without half characters', { name: 'Ann \ud83c' }, 'Ann \ufffd'],
  ])('is %s', async (_, said, name) => {
    const { display_name, proposed_name } = await accountOf(said);
    // Nobody has chosen it, so it is not public.
    expect(display_name).toMatch(reader);
    expect(proposed_name).toBe(name);
  });

  test('differs between people without a name', async () => {
    const names = new Set<unknown>();
    for (let i = 0; i < 5; i++) names.add((await accountOf({})).display_name);
    expect(names.size).toBeGreaterThan(1);
  });
});

test.each<[unknown, string | null]>([
  ['ann@example.com', 'ann@example.com'],
  [' ann@example.com ', 'ann@example.com'],
  ['', null],
  ['ann', null],
  ['ann@example.com, ben@example.com', null],
  [`${'x'.repeat(250)}@example.com`, null],
  ['ann\ud83c@example.com', null],
  [['ann@example.com'], null],
  [undefined, null],
])('for the email address %j, an account keeps %j', async (email, kept) => {
  expect((await accountOf({ email })).email).toBe(kept);
});

test.each<[string, Record<string, unknown>, object, boolean]>([
  ['the ID token says true', { email_verified: true }, {}, true],
  ['it says false', { email_verified: false }, {}, false],
  ['it says nothing', {}, {}, false],
  ['it says a text', { email_verified: 'true' }, {}, false],
  [
    'UserInfo says it of another address',
    {},
    { email: 'eve@example.com', email_verified: true },
    false,
  ],
  [
    'UserInfo has address and word',
    { email: undefined },
    { email: 'ann@example.com', email_verified: true },
    true,
  ],
  [
    'the word is in the ID token, and the address in UserInfo',
    { email: undefined, email_verified: true },
    { email: 'ann@example.com' },
    false,
  ],
])('an address is verified or not: %s', async (_, said, more, isVerified) => {
  userInfo = () => ({ sub: claims.sub, name: 'Ann', ...more });
  const { email, email_verified = false } = await accountOf({ email: 'ann@example.com', ...said });
  expect({ email, email_verified }).toEqual({
    email: 'ann@example.com',
    email_verified: isVerified,
  });
});

test.each<[unknown, string | null]>([
  ['ann', 'ann'],
  ['', null],
  [7, null],
  ['🎷'.repeat(65), '🎷'.repeat(64)],
  ['ann\ud83c', 'ann\ufffd'],
])('for the music database name %j, an account keeps %j', async (musicdb_username, kept) => {
  expect((await accountOf({ musicdb_username })).musicdb_username).toBe(kept);
});

test.each<[string, unknown, number]>([
  ['nothing', undefined, 503],
  ['an empty text', '', 400],
  ['a number', 7, 503],
  ['more than 255 characters', 'x'.repeat(256), 400],
])('refuses a sign-in with %s as subject', async (_, sub, expected) => {
  silence('error');
  const { status, headers, body } = await signInAs({ sub });
  expect(status).toBe(expected);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  if (expected === 503) return expect(body).toContain('Nobody can sign in right now');
  expect(body).toContain('<h1>You are not signed in</h1>');
  expect(body).toContain('<p>The identity provider did not say who you are.</p>');
  expect(body).toMatch(/href="https:\/\/api\.example\/ws\/account"[^>]*>Try again</);
});

test.each<[string, () => number | undefined, boolean]>([
  ['a minute ago', () => Date.now() / 1000 - 60, true],
  ['eleven minutes ago', () => Date.now() / 1000 - 660, false],
  ['at an unknown time', () => undefined, true],
])('the deletion page checks how recent the sign-in is: %s', async (_, auth_time, isFresh) => {
  const { jar, keeping } = keepingCookie(finishSignIn);
  await signInAs({ auth_time: auth_time() }, keeping);
  const { body } = await invoke(showDeletion, { headers: jar });
  expect(body.includes('Delete account')).toBe(isFresh);
  expect(body.includes('Sign in again')).toBe(!isFresh);
});

test('accepts a subject of 255 characters', async () => {
  expect(await signInAs({ sub: 'x'.repeat(255) })).toHaveStatus(303);
});

test.each<[string | undefined, string | null]>([
  ['login', 'login'],
  ['select_account', 'select_account'],
  ['none', null],
  ['consent', null],
  ['login none', null],
  ['', null],
  [undefined, null],
])('for the prompt %j, the provider receives %j', async (prompt, told) => {
  const { status, headers } = await begin(prompt === undefined ? {} : { prompt });
  expect(status).toBe(303);
  expect(new URL(headers.location ?? '').searchParams.get('prompt')).toBe(told);
});
