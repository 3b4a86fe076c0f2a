import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseCookie, stringifySetCookie } from 'cookie';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { authUrl } from '../auth-url.ts';
import { keysOf } from '../secrets.ts';
import { headerOf } from './request.ts';

/** A person who has signed in, when (ms since 1970); `session_id` is new at each sign-in. */
export const Session = v.object({
  user_id: v.string(),
  session_id: v.string(),
  signed_in: v.number(),
});
export type Session = v.InferOutput<typeof Session>;

/** What must be the same when the identity provider sends a person back. */
export const SignIn = v.object({
  state: v.string(),
  nonce: v.string(),
  code_verifier: v.string(),
  /** A path of ours to go on to. */
  return_to: v.string(),
});
export type SignIn = v.InferOutput<typeof SignIn>;

/** Our two kinds of cookie and how many seconds each is good for. */
const lifetimes = { session: 12 * 3600, 'sign-in': 1800 } as const;
type Kind = keyof typeof lifetimes;

/** The Set-Cookie header that signs a user in. */
export function startSession(user_id: string): Promise<string> {
  const session_id = randomBytes(16).toString('hex');
  return seal('session', { user_id, session_id, signed_in: Date.now() });
}

/** Who sent the request; undefined when nobody is signed in. */
export function readSession(event: APIGatewayProxyEvent): Promise<Session | undefined> {
  return open('session', Session, event);
}

/** The Set-Cookie header that takes the session away. */
export function forgetSession(): string {
  return setCookie('session', '', 0);
}

/** The Set-Cookie header that remembers a sign-in under way; each has a cookie of its own, as there may be several tabs. */
export function startSignIn(signIn: SignIn): Promise<string> {
  return seal('sign-in', signIn, nameOf(signIn.state));
}

/** The sign-in that this browser began with the state that is sent; undefined when there is none, or it is too old. */
export function readSignIn(event: APIGatewayProxyEvent): Promise<SignIn | undefined> {
  const state = event.queryStringParameters?.state ?? '';
  return open('sign-in', SignIn, event, nameOf(state));
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
  return parseCookie(headerOf(event, 'cookie') ?? '')[cookieName('deleted')] === 'yes';
}

/** The Set-Cookie header that forgets it. */
export function forgetDeletion(): string {
  return setCookie('deleted', '', 0);
}

/** What a form must carry to show that it is ours and was made in this session. */
export async function csrfToken(session: Session): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  return csrfUnder(key, session);
}

/** Whether the token of a form is that of the session, under any key: a form may be open while a key is replaced. Compares in constant time. */
export async function isCsrfToken(session: Session, sent: string): Promise<boolean> {
  const given = Buffer.from(sent);
  return (await keysOf('SESSION_KEYS')).some((key) => {
    const expected = Buffer.from(csrfUnder(key, session));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function csrfUnder(key: Buffer, { session_id }: Session): string {
  return createHmac('sha256', key).update(`csrf ${session_id}`).digest('base64url');
}

async function seal(kind: Kind, claims: JWTPayload, name: string = kind): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const value = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(kind)
    .setIssuedAt()
    .setExpirationTime(`${lifetimes[kind]} s`)
    .sign(key);
  return setCookie(name, value, lifetimes[kind]);
}

async function open<T extends v.GenericSchema>(
  kind: Kind,
  schema: T,
  event: APIGatewayProxyEvent,
  name: string = kind,
): Promise<v.InferOutput<T> | undefined> {
  const value = parseCookie(headerOf(event, 'cookie') ?? '')[cookieName(name)];
  if (!value) return undefined;
  for (const key of await keysOf('SESSION_KEYS')) {
    try {
      const { payload } = await jwtVerify(value, key, { audience: kind, algorithms: ['HS256'] });
      return v.parse(schema, payload);
    } catch {
      // Not made with this key, or too old: as good as none.
    }
  }
  return undefined;
}

function setCookie(name: string, value: string, maxAge: number): string {
  return stringifySetCookie({
    name: cookieName(name),
    value,
    maxAge,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(),
  });
}

/** A part of the state tells the cookies apart; the whole of it is compared later. */
function nameOf(state: string): string {
  return `sign-in-${state.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
}

/** The prefix makes browsers take the cookie from this very host only, but needs HTTPS. */
function cookieName(name: string): string {
  return isSecure() ? `__Host-${name}` : name;
}

function isSecure(): boolean {
  return authUrl().startsWith('https:');
}
