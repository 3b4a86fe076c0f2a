import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseCookie, stringifySetCookie } from 'cookie';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { authUrl } from '../auth-url.ts';
import { keysOf } from '../secrets.ts';
import { headerOf } from './form.ts';

/** A person who has signed in. `session_id` is new at each sign-in. */
export const Session = v.object({ user_id: v.string(), session_id: v.string() });
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

/** Our two cookies and how many seconds each is good for. */
const lifetimes = { session: 12 * 3600, 'sign-in': 1800 } as const;
type CookieName = keyof typeof lifetimes;

/** The Set-Cookie header that signs a user in. */
export function startSession(user_id: string): Promise<string> {
  return seal('session', { user_id, session_id: randomBytes(16).toString('hex') });
}

/** Who sent the request; undefined when nobody is signed in. */
export function readSession(event: APIGatewayProxyEvent): Promise<Session | undefined> {
  return open('session', Session, event);
}

/** The Set-Cookie header that remembers a sign-in under way. */
export function startSignIn(signIn: SignIn): Promise<string> {
  return seal('sign-in', signIn);
}

/** The sign-in that this browser began; undefined when there is none, or it is too old. */
export function readSignIn(event: APIGatewayProxyEvent): Promise<SignIn | undefined> {
  return open('sign-in', SignIn, event);
}

/** The Set-Cookie header that removes a cookie. */
export function forget(name: CookieName): string {
  return setCookie(name, '', 0);
}

/** What a form must carry to show that it is ours and was made in this session. */
export async function csrfToken({ session_id }: Session): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  return createHmac('sha256', key).update(`csrf ${session_id}`).digest('base64url');
}

/** Compares in constant time. */
export async function isCsrfToken(session: Session, sent: string): Promise<boolean> {
  const expected = Buffer.from(await csrfToken(session));
  const given = Buffer.from(sent);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function seal(name: CookieName, claims: JWTPayload): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const value = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience(name)
    .setIssuedAt()
    .setExpirationTime(`${lifetimes[name]} s`)
    .sign(key);
  return setCookie(name, value, lifetimes[name]);
}

async function open<T extends v.GenericSchema>(
  name: CookieName,
  schema: T,
  event: APIGatewayProxyEvent,
): Promise<v.InferOutput<T> | undefined> {
  const value = parseCookie(headerOf(event, 'cookie') ?? '')[cookieName(name)];
  if (!value) return undefined;
  for (const key of await keysOf('SESSION_KEYS')) {
    try {
      const { payload } = await jwtVerify(value, key, { audience: name, algorithms: ['HS256'] });
      return v.parse(schema, payload);
    } catch {
      // Not made with this key, or too old: as good as none.
    }
  }
  return undefined;
}

function setCookie(name: CookieName, value: string, maxAge: number): string {
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

/** The prefix makes browsers take the cookie from this very host only, but needs HTTPS. */
function cookieName(name: CookieName): string {
  return isSecure() ? `__Host-${name}` : name;
}

function isSecure(): boolean {
  return authUrl().startsWith('https:');
}
