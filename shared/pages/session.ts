import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { keysOf } from '../secrets.ts';
import { cookieName, cookiesOf, setCookie } from './cookies.ts';
import { open, seal } from './sealed.ts';

/** A person who has signed in, and when (ms since 1970). `session_id` is new at each sign-in. */
export const Session = v.object({
  user_id: v.string(),
  session_id: v.string(),
  signed_in: v.number(),
  /** When the identity provider last saw a proof of who it is, where it says so: it may let people in whom it knows. */
  authenticated: v.optional(v.number()),
});
export type Session = v.InferOutput<typeof Session>;

/** A sign-in under way: what must be the same when the identity provider sends a person back. */
export const SignIn = v.object({
  state: v.string(),
  nonce: v.string(),
  code_verifier: v.string(),
  /** A path of ours to go on to. */
  return_to: v.string(),
});
export type SignIn = v.InferOutput<typeof SignIn>;

/** Bytes. */
const csrfLength = 32;
/** Seconds that a person stays signed in. */
const sessionLifetime = 12 * 3600;

/** Milliseconds that a sign-in is fresh for, as what cannot be undone asks for. */
const freshness = 10 * 60_000;

/** Seconds that a person has to sign in. */
const signInLifetime = 1800;

/**
 * The most cookies of sign-ins under way, and their bytes together: they are in the headers of every request, of which API Gateway takes
 * 10,240 bytes.
 */
const mostSignIns = { count: 4, bytes: 6000 };

/** Browsers keep no cookie of more bytes, its name and attributes included. */
const mostCookieBytes = 4096;

/** The Set-Cookie header that signs a user in; `authenticated` as in the session. */
export async function startSession(userId: string, authenticated?: number): Promise<string> {
  const session_id = randomBytes(16).toString('hex');
  const session: Session = { user_id: userId, session_id, signed_in: Date.now(), authenticated };
  const value = await seal('session', session, sessionLifetime);
  return setCookie('session', value, sessionLifetime);
}

/** The session that the request is sent in. Undefined when nobody is signed in. */
export async function readSession(event: APIGatewayProxyEvent): Promise<Session | undefined> {
  const value = cookiesOf(event)[cookieName('session')];
  return value ? (await open('session', Session, value))?.content : undefined;
}

/** Whether it is the person who sits there now, as far as can be told: who has just signed in, and not only been let in. */
export function isFresh({ signed_in, authenticated = signed_in }: Session): boolean {
  return Date.now() - authenticated <= freshness;
}

/** The Set-Cookie header that takes the session away. */
export function forgetSession(): string {
  return setCookie('session', '', 0);
}

/**
 * The Set-Cookie headers that remember a sign-in under way, and forget the oldest of many. Each sign-in has a cookie of its own, as there
 * may be several tabs. Undefined when it is more than a cookie holds.
 */
export async function startSignIn(
  event: APIGatewayProxyEvent,
  signIn: SignIn,
): Promise<string[] | undefined> {
  const sealed = await seal('sign-in', signIn, signInLifetime);
  const cookie = setCookie(nameOf(signIn.state), sealed, signInLifetime);
  return cookie.length > mostCookieBytes
    ? undefined
    : [cookie, ...(await crowdedOut(event, cookie))];
}

/** The sign-in that this browser began with the state that is sent. Undefined when there is none, or it is too old. */
export async function readSignIn(event: APIGatewayProxyEvent): Promise<SignIn | undefined> {
  const state = event.queryStringParameters?.state ?? '';
  const value = cookiesOf(event)[cookieName(nameOf(state))] ?? '';
  return (await open('sign-in', SignIn, value))?.content;
}

/** The Set-Cookie header that forgets a sign-in. */
export function forgetSignIn({ state }: SignIn): string {
  return setCookie(nameOf(state), '', 0);
}

/** The Set-Cookie header that remembers for five minutes, while the identity provider signs out, that the account is gone. */
export function rememberDeletion(): string {
  return setCookie('deleted', 'yes', 300);
}

/** Whether this browser has deleted an account just now. */
export function hasDeleted(event: APIGatewayProxyEvent): boolean {
  return cookiesOf(event)[cookieName('deleted')] === 'yes';
}

/** The Set-Cookie header that forgets the deletion. */
export function forgetDeletion(): string {
  return setCookie('deleted', '', 0);
}

/**
 * The token that shows a form to be ours and made in this session. It is another one each time, under a mask that goes along: a page that is
 * compressed with what a stranger chose would otherwise tell it by its length.
 */
export async function csrfToken(session: Session): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const mask = randomBytes(csrfLength);
  return Buffer.concat([mask, xor(mask, csrfUnder(key, session))]).toString('base64url');
}

/** Whether the token of a form is that of the session, under any key: keys change while forms are open. Compares in constant time. */
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

/** The Set-Cookie headers that forget the sign-ins for which a new one leaves no room: those that are over, and the oldest. */
async function crowdedOut(event: APIGatewayProxyEvent, cookie: string): Promise<string[]> {
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

/** A cookie's name, told apart by a part of the state. The whole of the state is compared later. */
function nameOf(state: string): string {
  return `sign-in-${state.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
}
