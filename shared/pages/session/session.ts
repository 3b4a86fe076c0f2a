// The cookies of a browser: its session, its sign-ins in progress, and the tokens of its forms.
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseCookie, stringifySetCookie } from 'cookie';
import * as v from 'valibot';
import { isHttps } from '../../base/auth-url.ts';
import { keysOf } from '../../base/secrets.ts';
import { epochSeconds } from '../../base/time.ts';
import { open, seal, signInLifetime } from './sealed.ts';

/** A signed-in person. Each sign-in has a new `session_id`. */
export const Session = v.object({
  user_id: v.string(),
  session_id: v.string(),
  /** Time before the account was read, in ms since 1970. Whatever ends sessions later ends this. */
  signed_in: v.number(),
  /** Last proof of identity (ms since 1970), if reported. Recognizing a person is no proof. */
  authenticated: v.optional(v.number()),
});
export type Session = v.InferOutput<typeof Session>;

/** A sign-in in progress. The identity provider must send the person back with these values. */
export const SignIn = v.object({
  state: v.string(),
  nonce: v.string(),
  code_verifier: v.string(),
  /** Page of ours to continue with. */
  return_to: v.string(),
  /** The account that moves to the identity that signs in. */
  moves: v.optional(v.string()),
});
export type SignIn = v.InferOutput<typeof SignIn>;

const csrfBytes = 32;

const day = 86_400;

/** Seconds that a person stays signed in without a visit: 30 days. */
const sessionLifetime = 30 * day;

/** Seconds after which a person signs in again in any case: a year. */
const longestSession = 365 * day;

/** Limits on the cookies of sign-ins. API Gateway accepts 10,240 bytes of headers in a request. */
const mostSignIns = { count: 4, bytes: 6000 };

/** Reads a cookie of ours. */
export function readCookie(event: APIGatewayProxyEvent, name: string): string | undefined {
  return cookiesOf(event)[cookieName(name)];
}

function cookiesOf(event: APIGatewayProxyEvent) {
  return parseCookie(event.headers.cookie ?? '');
}

/** A cookie hidden from scripts and forms on other sites. `maxAge` is in seconds; 0 deletes it. */
export function setCookie(name: string, value: string, maxAge: number): string {
  return stringifySetCookie({
    name: cookieName(name),
    value,
    maxAge,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isHttps(),
  });
}

/** The full name of a cookie. The prefix restricts it to this exact host, but needs HTTPS. */
export function cookieName(name: string): string {
  return isHttps() ? `__Host-${name}` : name;
}

/**
 * Returns the Set-Cookie header that signs a user in. `signed_in` and `authenticated` are as in the
 * session.
 */
export function startSession(
  user_id: string,
  { signed_in = Date.now(), authenticated }: Partial<Session> = {},
): Promise<string> {
  const session_id = randomBytes(16).toString('hex');
  return sessionCookie({ user_id, session_id, signed_in, authenticated }, sessionLifetime);
}

async function sessionCookie(session: Session, lifetime: number): Promise<string> {
  return setCookie('session', await seal('session', session, lifetime), lifetime);
}

/** Reads the session of a request. Returns undefined if nobody is signed in. */
export async function readSession(event: APIGatewayProxyEvent): Promise<Session | undefined> {
  return (await openSession(event))?.content;
}

function openSession(event: APIGatewayProxyEvent) {
  return open('session', Session, readCookie(event, 'session') ?? '');
}

/**
 * Returns the Set-Cookie headers that prolong a session by a visit, once a day, for a year at most.
 * It stays the same session, and nothing is stored.
 */
export async function renewSession(event: APIGatewayProxyEvent): Promise<string[]> {
  const opened = await openSession(event);
  if (!opened) return [];
  const { content, expires_at } = opened;
  const now = epochSeconds();
  const end = Math.floor(content.signed_in / 1000) + longestSession;
  const lifetime = Math.min(sessionLifetime, end - now);
  if (now + lifetime < expires_at + day) return [];
  const idToken = readIdToken(event);
  const kept = idToken ? [idTokenCookie(idToken, lifetime)] : [];
  return [await sessionCookie(content, lifetime), ...kept];
}

/**
 * Returns the Set-Cookie header that keeps the ID token of a sign-in, which tells the provider whom
 * to sign out. None if the head of the answer would not fit the 4 KB of a usual proxy.
 */
export function keepIdToken(idToken: string, location: string): string[] {
  if (idToken.length + location.length > 2000) return [];
  return [idTokenCookie(idToken, sessionLifetime)];
}

function idTokenCookie(idToken: string, lifetime: number): string {
  return setCookie('id-token', idToken, lifetime);
}

/** Reads the ID token of the last sign-in of this browser, if there is one. */
export function readIdToken(event: APIGatewayProxyEvent): string | undefined {
  return readCookie(event, 'id-token');
}

/** True for 10 minutes after a proof of identity. Being recognized unasked is no proof. */
export function isFresh({ signed_in, authenticated = signed_in }: Session): boolean {
  return Date.now() - authenticated <= 10 * 60_000;
}

/** Returns the Set-Cookie headers that delete the session. */
export function forgetSession(): string[] {
  return ['session', 'id-token'].map((name) => setCookie(name, '', 0));
}

/**
 * Returns the Set-Cookie headers that store a sign-in, and delete the oldest of too many. Each
 * sign-in has its own cookie, because there may be several tabs. Returns undefined if a cookie is
 * too small.
 */
export async function startSignIn(
  event: APIGatewayProxyEvent,
  signIn: SignIn,
): Promise<string[] | undefined> {
  const sealed = await seal('sign-in', signIn, signInLifetime);
  const cookie = setCookie(signInCookie(signIn.state), sealed, signInLifetime);
  // Browsers reject a larger cookie, counting its name and attributes.
  if (cookie.length > 4096) return undefined;
  return [cookie, ...(await evictedBy(event, cookie))];
}

/** Reads the sign-in that this browser started with the sent state, unless it has expired. */
export async function readSignIn(event: APIGatewayProxyEvent): Promise<SignIn | undefined> {
  const state = event.queryStringParameters?.state ?? '';
  return (await open('sign-in', SignIn, readCookie(event, signInCookie(state)) ?? ''))?.content;
}

/** Returns the Set-Cookie header that deletes a sign-in. */
export function forgetSignIn({ state }: SignIn): string {
  return setCookie(signInCookie(state), '', 0);
}

/**
 * Makes a token that proves that a form comes from us and from this session. A random mask changes
 * it each time. Otherwise the size of a compressed page with text by a stranger could reveal it
 * (BREACH).
 */
export async function csrfToken(session: Session): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const mask = randomBytes(csrfBytes);
  return Buffer.concat([mask, xor(mask, csrfUnder(key, session))]).toString('base64url');
}

/** Checks a form's token in constant time, with all keys: they rotate while forms are open. */
export async function isCsrfToken(session: Session, sent: string): Promise<boolean> {
  const bytes = Buffer.from(sent, 'base64url');
  if (bytes.length !== 2 * csrfBytes || bytes.toString('base64url') !== sent) return false;
  const unmasked = xor(bytes.subarray(0, csrfBytes), bytes.subarray(csrfBytes));
  const keys = await keysOf('SESSION_KEYS');
  return keys.some((key) => timingSafeEqual(unmasked, csrfUnder(key, session)));
}

function csrfUnder(key: KeyObject, { session_id }: Session): Buffer {
  return createHmac('sha256', key).update(`csrf ${session_id}`).digest();
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] ?? 0)));
}

/** Makes Set-Cookie headers that delete sign-ins: expired ones, and the oldest to make room. */
async function evictedBy(event: APIGatewayProxyEvent, cookie: string): Promise<string[]> {
  const prefix = cookieName(signInCookie('')).length;
  const others = Object.entries(cookiesOf(event)).map(async ([fullName, value = '']) => {
    const name = signInCookie(fullName.slice(prefix));
    if (fullName !== cookieName(name)) return [];
    const until = (await open('sign-in', SignIn, value))?.expires_at ?? 0;
    return [{ name, until, size: fullName.length + value.length }];
  });
  const newestFirst = (await Promise.all(others)).flat().toSorted((a, b) => b.until - a.until);
  let count = 1;
  let bytes = cookie.length;
  return newestFirst.flatMap(({ name, until, size }) => {
    count += 1;
    bytes += size;
    const isKept = until > 0 && count <= mostSignIns.count && bytes <= mostSignIns.bytes;
    return isKept ? [] : [setCookie(name, '', 0)];
  });
}

/** Names a cookie by a part of the state. The whole state is compared later. */
function signInCookie(state: string): string {
  return `sign-in-${state.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
}
