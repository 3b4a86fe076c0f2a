import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import {
  csrfToken,
  forgetSession,
  forgetSignIn,
  isCsrfToken,
  readSession,
  readSignIn,
  startSession,
  startSignIn,
} from '../../../shared/http/session.ts';
import { proxyEvent } from '../../invoke.ts';
import { stopClock } from '../../oauth/clock.ts';

const key = Buffer.alloc(32, 'session');
const other = Buffer.alloc(32, 'other');
const keysAre = (...keys: Buffer[]) => {
  process.env.SESSION_KEYS = keys.map((each) => each.toString('base64url')).join(',');
};

beforeEach(() => {
  process.env.AUTH_URL = 'https://api.example/ws';
  keysAre(key);
});

afterEach(() => {
  jest.useRealTimers();
});

const user_id = randomUUID();
const signIn = { state: 's', nonce: 'n', code_verifier: 'v', return_to: '/ws/account' };

/** A request with these cookies. */
function request(...cookies: string[]) {
  const sent = cookies.map((cookie) => cookie.split(';')[0]);
  return proxyEvent({ headers: { cookie: sent.join('; ') }, query: { state: 's' } });
}

function contentOf(setCookie: string): string {
  return /=([^;]*)/.exec(setCookie)?.[1] ?? '';
}

describe('the cookies', () => {
  test.each([
    ['session', () => startSession(user_id), forgetSession, 43_200],
    ['sign-in-s', () => startSignIn(signIn), () => forgetSignIn(signIn), 1800],
  ] as const)('%s: stay with this very host on https', async (name, start, forget, age) => {
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
    const session = await readSession(request(await startSession(user_id), 'a=b'));
    expect(session).toEqual({
      user_id,
      session_id: expect.stringMatching(/^[\da-f]{32}$/),
      signed_in: expect.any(Number),
    });
    expect(await readSignIn(request('a=b', await startSignIn(signIn)))).toEqual(signIn);
  });

  test('name a new session each time', async () => {
    const sessions = await Promise.all(
      [1, 2].map(async () => readSession(request(await startSession(user_id)))),
    );
    expect(sessions[0]?.session_id).not.toBe(sessions[1]?.session_id);
  });

  test('are not good for ever', async () => {
    const [session, began] = [await startSession(user_id), await startSignIn(signIn)];
    const start = Date.now();
    stopClock(start + 1_790_000);
    expect(await readSignIn(request(began))).toEqual(signIn);
    stopClock(start + 1_802_000);
    expect(await readSignIn(request(began))).toBeUndefined();
    expect(await readSession(request(session))).toMatchObject({ user_id });
    stopClock(start + 43_202_000);
    expect(await readSession(request(session))).toBeUndefined();
  });

  test('outlive a key while it is still listed', async () => {
    const cookie = await startSession(user_id);
    keysAre(other, key);
    expect(await readSession(request(cookie))).toMatchObject({ user_id });
    keysAre(other);
    expect(await readSession(request(cookie))).toBeUndefined();
  });

  const claims = { user_id, session_id: 'f'.repeat(32) };
  const signed = (by: Uint8Array, alg = 'HS256', audience = 'session') =>
    new SignJWT(claims).setProtectedHeader({ alg }).setAudience(audience).sign(by);

  test.each<[string, () => Promise<string> | string]>([
    ['nothing', () => ''],
    ['anything', () => 'x.y.z'],
    ['another key', () => signed(other)],
    ['no signature', () => new UnsecuredJWT(claims).setAudience('session').encode()],
    ['another algorithm', () => signed(Buffer.alloc(64, 'session'), 'HS512')],
    ['a sign-in', async () => contentOf(await startSignIn(signIn))],
    ['the session for a sign-in', () => signed(key, 'HS256', 'sign-in')],
    [
      'a changed user',
      async () => {
        const [head, , signature] = contentOf(await startSession(user_id)).split('.');
        const changed = Buffer.from(JSON.stringify(claims)).toString('base64url');
        return `${head}.${changed}.${signature}`;
      },
    ],
  ])('are not taken with %s', async (_, value) => {
    expect(await readSession(request(`__Host-session=${await value()}`))).toBeUndefined();
  });

  test('are not taken under the name that any subdomain could set', async () => {
    const cookie = await startSession(user_id);
    expect(await readSession(request(cookie.replace('__Host-', '')))).toBeUndefined();
  });
});

describe('the token in forms', () => {
  test('is that of the session', async () => {
    const [one, two] = [
      { user_id, session_id: '1'.repeat(32), signed_in: 1 },
      { user_id, session_id: '2'.repeat(32), signed_in: 1 },
    ];
    const token = await csrfToken(one);
    expect(await csrfToken(one)).toBe(token);
    expect(await isCsrfToken(one, token)).toBe(true);
    for (const wrong of [await csrfToken(two), '', token.slice(1), `${token}=`, 'é'.repeat(43)]) {
      expect(await isCsrfToken(one, wrong)).toBe(false);
    }
  });

  test('outlives a key while it is still listed, as the session does', async () => {
    const session = { user_id, session_id: '1'.repeat(32), signed_in: 1 };
    const token = await csrfToken(session);
    keysAre(other, key);
    expect(await csrfToken(session)).not.toBe(token);
    expect(await isCsrfToken(session, token)).toBe(true);
    keysAre(other);
    expect(await isCsrfToken(session, token)).toBe(false);
  });
});
