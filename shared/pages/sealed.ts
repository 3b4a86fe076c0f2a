import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CompactSign, compactVerify } from 'jose';
import * as v from 'valibot';
import { keysOf } from '../secrets.ts';
import { epochSeconds } from '../time.ts';

/** Data that browsers carry for us: a session, a sign-in, an authorization request. */
type Kind = 'session' | 'sign-in' | 'request';

const Sealed = v.object({ kind: v.string(), content: v.unknown(), expires_at: v.number() });

/** Content of a seal, and its expiry in epoch seconds. */
export interface Unsealed<T> {
  content: T;
  expires_at: number;
}

/**
 * Seals `content` as text of `[A-Za-z0-9_.-]`. A browser can carry and read it, but not change it.
 * The text is a JWS of compressed JSON. `lifetime` is in seconds. Base64url within the content
 * compresses to the size of the bytes that it encodes.
 */
export async function seal(kind: Kind, content: object, lifetime: number): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const expires_at = epochSeconds(lifetime);
  const bytes = deflateRawSync(JSON.stringify({ kind, content, expires_at }));
  return new CompactSign(bytes).setProtectedHeader({ alg: 'HS256' }).sign(key);
}

/**
 * Opens content that was sealed as this kind. Returns undefined if the seal is invalid or has
 * expired.
 */
export async function open<T extends v.GenericSchema>(
  kind: Kind,
  schema: T,
  text: string,
): Promise<Unsealed<v.InferOutput<T>> | undefined> {
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
