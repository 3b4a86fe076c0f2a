// Seals data that a browser carries for us.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CompactSign, compactVerify } from 'jose';
import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { keysOf } from '../../base/secrets.ts';
import { epochSeconds } from '../../base/time.ts';
import { RequestedGrant } from '../../core/oauth/authorization-request.ts';

/** Data that browsers carry for us. */
type Kind =
  | 'session'
  | 'sign-in'
  | 'interaction'
  | 'known-browser'
  | 'request'
  | 'stop-mails'
  | 'move'
  | 'undo-move';

const Sealed = v.object({ kind: v.string(), content: v.unknown(), expires_at: v.number() });

/**
 * Seals `content` for `lifetime` seconds as text of `[A-Za-z0-9_.-]`, a JWS of compressed JSON. A
 * browser can carry and read it, but not change it.
 */
export async function seal(kind: Kind, content: object, lifetime: number): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const expires_at = epochSeconds(lifetime);
  const bytes = deflateRawSync(JSON.stringify({ kind, content, expires_at }));
  return new CompactSign(bytes).setProtectedHeader({ alg: 'HS256' }).sign(key);
}

/** Opens a seal of this kind, with its expiry in epoch seconds. Undefined if invalid or expired. */
export async function open<T extends v.GenericSchema>(
  kind: Kind,
  schema: T,
  text: string,
): Promise<{ content: v.InferOutput<T>; expires_at: number } | undefined> {
  for (const key of await keysOf('SESSION_KEYS')) {
    try {
      const { payload } = await compactVerify(text, key, { algorithms: ['HS256'] });
      const sealed = v.parse(Sealed, JSON.parse(inflateRawSync(payload).toString()));
      if (sealed.kind !== kind || sealed.expires_at <= Date.now() / 1000) return undefined;
      return { content: v.parse(schema, sealed.content), expires_at: sealed.expires_at };
    } catch {
      // Sealed with another key, or for another schema.
    }
  }
  return undefined;
}

/** Seconds that a person has to sign in. */
export const signInLifetime = 1800;

/** An authorization request during a sign-in. It is not stored before the person is known. */
const SealedRequest = v.object({
  client_id: v.string(),
  state: v.nullable(v.string()),
  asked: RequestedGrant,
});
type SealedRequest = v.InferOutput<typeof SealedRequest>;

/** Seals a request for `openRequest`. It fits a cookie, even with a state of 2 KB in any script. */
export function sealRequest({ state, ...request }: SealedRequest): Promise<string> {
  // JSON writes some characters with six bytes. Base64url compresses to the size of its content.
  const encoded = state === null ? null : Buffer.from(state).toString('base64url');
  return seal('request', { ...request, state: encoded }, signInLifetime);
}

/** Opens a sealed request. Throws ApiError 400 if the seal is invalid or has expired. */
export async function openRequest(sealed: string): Promise<SealedRequest> {
  const opened = await open('request', SealedRequest, sealed);
  if (!opened) throw invalidRequest('This request is too old: start again from the application');
  const { state, ...request } = opened.content;
  return { ...request, state: state && Buffer.from(state, 'base64url').toString() };
}
