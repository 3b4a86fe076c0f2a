import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { CompactSign, SignJWT } from 'jose';
import { eventOf } from '../../../infra/local/gateway/endpoint-event.ts';
import { seal } from '../../../shared/pages/session/sealed.ts';
import {
  csrfToken,
  forgetSession,
  forgetSignIn,
  isCsrfToken,
  keepIdToken,
  readIdToken,
  readSession,
  readSignIn,
  renewSession,
  type SignIn,
  startSession,
  startSignIn,
} from '../../../shared/pages/session/session.ts';
import { stopClock } from '../../helpers/clock.ts';

const key = Buffer.alloc(32, 'session');
const other = Buffer.alloc(32, 'other');
const keysAre = (...keys: Buffer[]) => {
  process.env.SESSION_KEYS = keys.map((each) => each.toString('base64url')).join(',');
};

beforeEach(() => {
  process.env.AUTH_URL = 'https://api.example/ws';
  keysAre(key);
});

const user_id = randomUUID();
const day = 86_400_000;
const signIn = { state: 's', nonce: 'n', code_verifier: 'v', return_to: '/ws/account' };

/** Makes a request with these cookies. */
function request(...cookies: string[]) {
  const sent = cookies.map((cookie) => cookie.split(';')[0]);
  return eventOf({ headers: { cookie: sent.join('; ') }, query: { state: 's' } });
}

/**
 * Begins a sign-in in a browser with these cookies. Returns the new cookie and the deleted ones.
 */
async function begin(changes: Partial<SignIn> = {}, ...cookies: string[]) {
  const begun = await startSignIn(request(...cookies), { ...signIn, ...changes });
  const [cookie = '', ...forgotten] = begun ?? [];
  return { cookie, forgotten: forgotten.map((line) => line.split('=')[0]) };
}

const contentOf = (setCookie: string): string => /=([^;]*)/.exec(setCookie)?.[1] ?? '';

describe('the cookies', () => {
  test.each([
    ['session', () => startSession(user_id), () => forgetSession()[0], 2_592_000],
    ['sign-in-s', async () => (await begin()).cookie, () => forgetSignIn(signIn), 1800],
  ] as const)('%s: stay with this host, over HTTPS only', async (name, start, forget, age) => {
    const [pair, ...attributes] = (await start()).split('; ');
    expect(pair).toMatch(new RegExp(`^__Host-${name}=[\\w.-]+$`));
    const expected = [`Max-Age=${age}`, 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'];
    expect(attributes.sort()).toEqual(expected.sort());
    expect(forget()).toMatch(new RegExp(`^__Host-${name}=; Max-Age=0; Path=/; .*Secure`));
  });

  test('have no prefix on this machine', async () => {
    process.env.AUTH_URL = 'http://localhost:3000/ws';
    const cookie = await startSession(user_id);
    expect(cookie).toMatch(/^session=/);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).not.toMatch(/Secure/);
    expect(await readSession(request(cookie))).toMatchObject({ user_id });
  });

  test('are read back', async () => {
    expect(await readSession(request(await startSession(user_id), 'a=b'))).toEqual({
      user_id,
      session_id: expect.stringMatching(/^[\da-f]{32}$/),
      signed_in: expect.any(Number),
    });
    expect(await readSignIn(request('a=b', (await begin()).cookie))).toEqual(signIn);
  });

  test('name a new session each time', async () => {
    const one = await readSession(request(await startSession(user_id)));
    const two = await readSession(request(await startSession(user_id)));
    expect(one?.session_id).not.toBe(two?.session_id);
  });

  test('expire', async () => {
    const session = await startSession(user_id);
    const { cookie: began } = await begin();
    const start = Date.now();
    stopClock(start + 1_790_000);
    expect(await readSignIn(request(began))).toEqual(signIn);
    stopClock(start + 1_802_000);
    expect(await readSignIn(request(began))).toBeUndefined();
    expect(await readSession(request(session))).toMatchObject({ user_id });
    stopClock(start + 30 * day - 2_000);
    expect(await readSession(request(session))).toMatchObject({ user_id });
    stopClock(start + 30 * day + 2_000);
    expect(await readSession(request(session))).toBeUndefined();
  });

  test('stay valid while their key is listed', async () => {
    const cookie = await startSession(user_id);
    keysAre(other, key);
    expect(await readSession(request(cookie))).toMatchObject({ user_id });
    keysAre(other);
    expect(await readSession(request(cookie))).toBeUndefined();
  });

  const claims = { user_id, session_id: 'f'.repeat(32) };
  const content = { ...claims, signed_in: Date.now() };
  const sealed = (kind = 'session') =>
    deflateRawSync(JSON.stringify({ kind, content, expires_at: Date.now() }));
  const signed = (by: Uint8Array, alg = 'HS256', kind?: string) =>
    new CompactSign(sealed(kind)).setProtectedHeader({ alg }).sign(by);
  const unsigned = (payload: Buffer) =>
    [Buffer.from('{"alg":"none"}'), payload].map((each) => each.toString('base64url')).join('.');

  const withClaims = (token: string) =>
    token.replace(/\..*\./, `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`);

  test('are accepted as sealed', async () => {
    expect(await readSession(request(`__Host-session=${await signed(key)}`))).toEqual(content);
  });

  test.each<[string, () => Promise<string> | string]>([
    ['nothing', () => ''],
    ['anything', () => 'x.y.z'],
    ['another key', () => signed(other)],
    ['no signature', () => `${unsigned(sealed())}.`],
    ['another algorithm', () => signed(key, 'HS512')],
    ['a sign-in', async () => contentOf((await begin()).cookie)],
    ['the session for a sign-in', () => signed(key, 'HS256', 'sign-in')],
    ['a changed user', async () => withClaims(contentOf(await startSession(user_id)))],
  ])('are refused with %s', async (_, value) => {
    expect(await readSession(request(`__Host-session=${await value()}`))).toBeUndefined();
  });

  test('are refused under a name that any subdomain could set', async () => {
    const cookie = await startSession(user_id);
    expect(await readSession(request(cookie.replace('__Host-', '')))).toBeUndefined();
  });
});

describe('a session that is used', () => {
  const maxAge = (cookie = '') => Number(/Max-Age=(\d+)/.exec(cookie)?.[1]);

  test('is renewed once a day, stays the same session, and ends a year after the sign-in', async () => {
    const start = Date.now();
    stopClock(start);
    let cookie = await startSession(user_id);
    const first = await readSession(request(cookie));
    expect(await renewSession(request(cookie))).toEqual([]);
    let renewals = 0;
    let hour = 0;
    for (; hour < 400 * 24; hour += 7) {
      stopClock(start + hour * 3_600_000);
      if (!(await readSession(request(cookie)))) break;
      const [renewed] = await renewSession(request(cookie));
      if (renewed === undefined) continue;
      renewals++;
      cookie = renewed;
      expect(await readSession(request(cookie))).toEqual(first);
      expect(maxAge(cookie)).toBeLessThanOrEqual(30 * 86_400);
    }
    expect(hour / 24).toBeGreaterThan(364.7);
    expect(hour / 24).toBeLessThan(365.3);
    expect(renewals).toBeLessThanOrEqual(365);
  });

  test('is renewed from an older version, whose sessions last 12 hours', async () => {
    const content = { user_id, session_id: 'f'.repeat(32), signed_in: Date.now() - 3_600_000 };
    const cookie = `__Host-session=${await seal('session', content, 11 * 3600)}`;
    const [renewed = ''] = await renewSession(request(cookie));
    expect(maxAge(renewed)).toBe(30 * 86_400);
    expect(await readSession(request(renewed))).toEqual(content);
  });

  test('is not made of nothing', async () => {
    expect(await renewSession(request('a=b'))).toEqual([]);
    expect(await renewSession(request('__Host-session=x.y.z'))).toEqual([]);
  });

  test('keeps the ID token for the sign-out, and both end together', async () => {
    const start = Date.now();
    const cookies = [await startSession(user_id), ...keepIdToken('a.b.c', '/account')];
    expect(readIdToken(request(...cookies))).toBe('a.b.c');
    stopClock(start + 2 * day);
    const renewed = await renewSession(request(...cookies));
    expect(renewed.map((line) => line.split(';')[0])).toEqual([
      expect.stringMatching(/^__Host-session=/),
      '__Host-id-token=a.b.c',
    ]);
    expect(forgetSession().map((line) => line.split(';')[0])).toEqual([
      '__Host-session=',
      '__Host-id-token=',
    ]);
  });

  test('keeps no ID token that makes the head of the answer too long for a proxy', () => {
    expect(keepIdToken('x'.repeat(1500), `/${'y'.repeat(400)}`)).toHaveLength(1);
    expect(keepIdToken('x'.repeat(1500), `/${'y'.repeat(600)}`)).toEqual([]);
  });
});

describe('the cookies of pending sign-ins', () => {
  /** Makes text that does not compress. */
  const noise = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(33 + Math.floor(94 * Math.random()))).join('');

  test('are limited to the four newest', async () => {
    const started = Date.now();
    const cookies: string[] = [];
    for (let i = 0; i < 6; i++) {
      stopClock(started + 1000 * i);
      const { cookie, forgotten } = await begin({ state: `tab-${i}` }, ...cookies.toReversed());
      expect(forgotten).toEqual(i < 4 ? [] : [`__Host-sign-in-tab-${i - 4}`]);
      cookies.push(cookie);
      if (i >= 4) cookies.shift();
    }
    // A repetition replaces its own cookie.
    expect((await begin({ state: 'tab-5' }, ...cookies)).cookie).toContain('sign-in-tab-5=');
  });

  test('take at most 6,000 bytes, next to cookies of others', async () => {
    const cookies: string[] = [];
    for (let i = 0; i < 16; i++) {
      const return_to = `/ws/account?${noise(2500)}`;
      const { cookie, forgotten } = await begin({ state: `tab-${i}`, return_to }, ...cookies);
      cookies.push(cookie);
      for (const name of forgotten) {
        const index = cookies.findIndex((each) => each.startsWith(`${name}=`));
        cookies.splice(index, 1);
      }
      expect(cookies.map((each) => each.split(';')[0]).join('; ').length).toBeLessThan(6000);
    }
    expect(cookies.at(-1)).toContain('sign-in-tab-15=');
  });

  test('are deleted once the sign-in is over, or if they are invalid', async () => {
    const { cookie } = await begin({ state: 'old' });
    stopClock(Date.now() + 1_802_000);
    const others = ['__Host-sign-in-x=y', 'sign-in-x=y', '__Host-sign-in-<>=z', '__Host-session=s'];
    const { forgotten } = await begin({}, cookie, ...others);
    expect(forgotten.sort()).toEqual(['__Host-sign-in-old', '__Host-sign-in-x']);
  });

  test('are not set if a browser would drop them', async () => {
    const fits = await begin({ return_to: `/ws/account?${'x'.repeat(10_000)}` });
    expect(fits.cookie.length).toBeLessThan(1000);
    expect((await begin({ return_to: `/ws/account?${noise(3800)}` })).cookie).toBe('');
  });

  const uncompressed = new SignJWT(signIn).setProtectedHeader({ alg: 'HS256' });
  function sealedBy(key: Buffer): Promise<string> {
    keysAre(key);
    return seal('sign-in', signIn, 60);
  }
  test.each([
    ['a session', async () => contentOf(await startSession(user_id))],
    ['a sealed request', () => seal('request', signIn, 60)],
    ['another key', () => sealedBy(other)],
    ['an expired sign-in', () => seal('sign-in', signIn, 0)],
    ['no content', () => seal('sign-in', {}, 60)],
    ['uncompressed content', () => uncompressed.sign(key)],
  ])('are refused with %s', async (_, value) => {
    const cookie = `__Host-sign-in-s=${await value()}`;
    keysAre(key);
    expect(await readSignIn(request(cookie))).toBeUndefined();
  });

  test('stay valid while their key is listed', async () => {
    const { cookie } = await begin();
    keysAre(other, key);
    expect(await readSignIn(request(cookie))).toEqual(signIn);
  });
});

describe('the token in forms', () => {
  const session = { user_id, session_id: '1'.repeat(32), signed_in: 1 };

  test('belongs to the session', async () => {
    const two = { ...session, session_id: '2'.repeat(32) };
    const token = await csrfToken(session);
    expect(await isCsrfToken(session, token)).toBe(true);
    const another = `${token.slice(0, -5)}${token.at(-5) === 'A' ? 'B' : 'A'}${token.slice(-4)}`;
    const wrongs = ['', token.slice(1), `${token}=`, 'A'.repeat(86), 'é'.repeat(86), another];
    for (const wrong of [await csrfToken(two), ...wrongs]) {
      expect(await isCsrfToken(session, wrong)).toBe(false);
    }
  });

  test('differs in every part from page to page', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => csrfToken(session)));
    for (const half of [0, 43]) {
      expect(new Set(tokens.map((token) => token.slice(half, half + 42))).size).toBe(50);
    }
    for (const token of tokens) expect(await isCsrfToken(session, token)).toBe(true);
  });

  test('stays valid while its key is listed, like the session', async () => {
    const token = await csrfToken(session);
    keysAre(other, key);
    expect(await csrfToken(session)).not.toBe(token);
    expect(await isCsrfToken(session, token)).toBe(true);
    keysAre(other);
    expect(await isCsrfToken(session, token)).toBe(false);
  });
});
