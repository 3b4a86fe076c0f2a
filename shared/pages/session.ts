import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { keysOf } from '../secrets.ts';
import { cookieName, cookiesOf, setCookie } from './cookies.ts';
import { open, seal } from './sealed.ts';

/** A signed-in person. `signed_in` is in ms since 1970. Each sign-in has a new `session_id`. */
export const Session = v.object({
  user_id: v.string(),
  session_id: v.string(),
  signed_in: v.number(),
  /**
   * Time of the last proof of identity (ms since 1970), if the identity provider reports it. It may
   * recognize a person without asking.
   */
  authenticated: v.optional(v.number()),
});
export type Session = v.InferOutput<typeof Session>;

/**
 * A sign-in in progress. These values must match when the identity provider sends the person back.
 */
export const SignIn = v.object({
  state: v.string(),
  nonce: v.string(),
  code_verifier: v.string(),
  /** Page of ours to continue with. */
  return_to: v.string(),
});
export type SignIn = v.InferOutput<typeof SignIn>;

/** Bytes. */
const csrfLength = 32;
/** Seconds that a person stays signed in. */
const sessionLifetime = 12 * 3600;

/**
 * Milliseconds for which a sign-in is recent. Actions that cannot be undone require a recent one.
 */
const freshness = 10 * 60_000;

/** Seconds that a person has to sign in. */
const signInLifetime = 1800;

/**
 * Limits on the cookies of sign-ins in progress. Every request carries them in its headers, of
 * which API Gateway accepts 10,240 bytes.
 */
const mostSignIns = { count: 4, bytes: 6000 };

/** Browsers reject a larger cookie, counting its name and attributes. */
const mostCookieBytes = 4096;

/** Returns the Set-Cookie header that signs a user in. `authenticated` is as in the session. */
export async function startSession(userId: string, authenticated?: number): Promise<string> {
  const session_id = randomBytes(16).toString('hex');
  const session: Session = { user_id: userId, session_id, signed_in: Date.now(), authenticated };
  const value = await seal('session', session, sessionLifetime);
  return setCookie('session', value, sessionLifetime);
}

/** Reads the session of a request. Returns undefined if nobody is signed in. */
export async function readSession(event: APIGatewayProxyEvent): Promise<Session | undefined> {
  const value = cookiesOf(event)[cookieName('session')];
  return value ? (await open('session', Session, value))?.content : undefined;
}

/**
 * Returns true if the person has proved their identity recently. Being recognized without a
 * question is no proof.
 */
export function isFresh({ signed_in, authenticated = signed_in }: Session): boolean {
  return Date.now() - authenticated <= freshness;
}

/** Returns the Set-Cookie header that deletes the session. */
export function forgetSession(): string {
  return setCookie('session', '', 0);
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
  const cookie = setCookie(nameOf(signIn.state), sealed, signInLifetime);
  return cookie.length > mostCookieBytes
    ? undefined
    : [cookie, ...(await evictedBy(event, cookie))];
}

/**
 * Reads the sign-in that this browser started with the sent state. Returns undefined if there is
 * none, or it has expired.
 */
export async function readSignIn(event: APIGatewayProxyEvent): Promise<SignIn | undefined> {
  const state = event.queryStringParameters?.state ?? '';
  const value = cookiesOf(event)[cookieName(nameOf(state))] ?? '';
  return (await open('sign-in', SignIn, value))?.content;
}

/** Returns the Set-Cookie header that deletes a sign-in. */
export function forgetSignIn({ state }: SignIn): string {
  return setCookie(nameOf(state), '', 0);
}

/**
 * Returns the Set-Cookie header that remembers a deletion for five minutes, while the identity
 * provider signs out.
 */
export function rememberDeletion(): string {
  return setCookie('deleted', 'yes', 300);
}

/** Returns true if this browser has just deleted an account. */
export function hasDeleted(event: APIGatewayProxyEvent): boolean {
  return cookiesOf(event)[cookieName('deleted')] === 'yes';
}

/** Returns the Set-Cookie header that forgets the deletion. */
export function forgetDeletion(): string {
  return setCookie('deleted', '', 0);
}

/**
 * Returns a token that proves that a form comes from us and from this session. A random mask
 * changes it each time. Otherwise the size of a compressed page with text by a stranger could
 * reveal it (BREACH).
 */
export async function csrfToken(session: Session): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const mask = randomBytes(csrfLength);
  return Buffer.concat([mask, xor(mask, csrfUnder(key, session))]).toString('base64url');
}

/**
 * Returns true if a form's token belongs to the session. Tries all keys, because they rotate while
 * forms are open. Compares in constant time.
 */
export async function isCsrfToken(session: Session, sent: string): Promise<boolean> {
  const bytes = Buffer.from(sent, 'base64url');
  if (bytes.length !== 2 * csrfLength || bytes.toString('base64url') !== sent) return false;
  const given = xor(bytes.subarray(0, csrfLength), bytes.subarray(csrfLength));
  return (await keysOf('SESSION_KEYS')).some((key) =>
    timingSafeEqual(given, csrfUnder(key, session)),
  );
}

function csrfUnder(key: KeyObject, { session_id }: Session): Buffer {
  return createHmac('sha256', key).update(`csrf ${session_id}`).digest();
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] ?? 0)));
}

/**
 * Returns the Set-Cookie headers that make room for a new sign-in. They delete expired sign-ins and
 * the oldest ones.
 */
async function evictedBy(event: APIGatewayProxyEvent, cookie: string): Promise<string[]> {
  const prefix = cookieName(nameOf('')).length;
  const others = Object.entries(cookiesOf(event)).map(async ([sent, value = '']) => {
    const name = nameOf(sent.slice(prefix));
    if (sent !== cookieName(name)) return [];
    const until = (await open('sign-in', SignIn, value))?.expires_at ?? 0;
    return [{ name, until, size: sent.length + value.length }];
  });
  const newestFirst = (await Promise.all(others)).flat().toSorted((a, b) => b.until - a.until);
  let [count, bytes] = [1, cookie.length];
  return newestFirst.flatMap(({ name, until, size }) => {
    count += 1;
    bytes += size;
    const isKept = until > 0 && count <= mostSignIns.count && bytes <= mostSignIns.bytes;
    return isKept ? [] : [setCookie(name, '', 0)];
  });
}

/** Names a cookie by a part of the state. The whole state is compared later. */
function nameOf(state: string): string {
  return `sign-in-${state.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
}
