import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CompactSign, compactVerify } from 'jose';
import * as v from 'valibot';
import { keysOf } from '../secrets.ts';
import { epochSeconds } from '../time.ts';

/** The things that browsers carry for us: a session, and what goes through a sign-in. */
type Kind = 'session' | 'sign-in' | 'request';

const Sealed = v.object({ kind: v.string(), content: v.unknown(), expires_at: v.number() });

/** Something that was sealed, and when its time is over, in epoch seconds. */
export interface Opened<T> {
  content: T;
  expires_at: number;
}

/**
 * Seals `content` as text of `[A-Za-z0-9_.-]` that a browser can carry and read, but not change: JSON, compressed, as a JWS. `lifetime` is in
 * seconds. A text of base64url within it takes no more room than the bytes that it stands for.
 */
export async function seal(kind: Kind, content: object, lifetime: number): Promise<string> {
  const [key] = await keysOf('SESSION_KEYS');
  const expires_at = epochSeconds(lifetime);
  const bytes = deflateRawSync(JSON.stringify({ kind, content, expires_at }));
  return new CompactSign(bytes).setProtectedHeader({ alg: 'HS256' }).sign(key);
}

/** The content that we have sealed as this kind. Undefined for anything else, and when its time is over. */
export async function open<T extends v.GenericSchema>(
  kind: Kind,
  schema: T,
  text: string,
): Promise<Opened<v.InferOutput<T>> | undefined> {
  for (const key of await keysOf('SESSION_KEYS')) {
    try {
      const { payload } = await compactVerify(text, key, { algorithms: ['HS256'] });
      const sealed = v.parse(Sealed, JSON.parse(inflateRawSync(payload).toString()));
      if (sealed.kind !== kind || sealed.expires_at <= Date.now() / 1000) return undefined;
      return { content: v.parse(schema, sealed.content), expires_at: sealed.expires_at };
    } catch {
      // It was not made with this key, or is too old: as good as none.
    }
  }
  return undefined;
}
