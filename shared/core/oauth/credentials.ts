// Seals and opens tokens, and derives the secrets of applications. No table is read.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Scope } from '../../base/routes.ts';
import { keysOf } from '../../base/secrets.ts';

/** Secret scanners find leaked credentials by prefix. In the MAC it tells the kinds apart. */
const prefixes = { access: 'rva_', refresh: 'rvr_', code: 'rvc_', secret: 'rvs_' } as const;
type TokenKind = Exclude<keyof typeof prefixes, 'secret'>;

export interface TokenContent {
  /** UUID. The other ids are 32 hexadecimal digits. */
  user_id: string;
  client_id: string;
  grant_id: string;
  /** Number of refreshes, which tells a spent refresh token from the current one. */
  generation: number;
  /** Epoch seconds; 0 for a token without expiry. */
  expires_at: number;
  /** Set if the token has fewer scopes than its grant. */
  narrowed_to?: readonly Scope[] | undefined;
}

const contentBytes = 16 + 16 + 16 + 4 + 4;
/** Bits in the extra byte of a narrowed token. */
const scopeBits = { review: 1, vote: 2, user: 4 } as const;
const macBytes = 32;

/** Makes an opaque token of `[A-Za-z0-9_-]`. The same content and key give the same token. */
export async function sealToken(kind: TokenKind, content: TokenContent): Promise<string> {
  const [key] = await keysOf('SIGNING_KEYS');
  const bytes = encode(content);
  return prefixes[kind] + Buffer.concat([bytes, mac(key, kind, bytes)]).toString('base64url');
}

/** Returns the content of our own token, expired or not, or else undefined. Reads no table. */
export async function openToken(kind: TokenKind, token: string): Promise<TokenContent | undefined> {
  if (!token.startsWith(prefixes[kind])) return undefined;
  const encoded = token.slice(prefixes[kind].length);
  const bytes = Buffer.from(encoded, 'base64url');
  // Base64url decoding ignores unknown characters, so only the canonical spelling is accepted.
  const length = bytes.length - macBytes;
  const isKnown = length === contentBytes || length === contentBytes + 1;
  if (!isKnown || bytes.toString('base64url') !== encoded) return undefined;
  const content = bytes.subarray(0, length);
  const tag = bytes.subarray(length);
  const keys = await keysOf('SIGNING_KEYS');
  const isOurs = keys.some((key) => timingSafeEqual(mac(key, kind, content), tag));
  return isOurs ? decode(content) : undefined;
}

/** Returns an application's secret, derived from `secretId`, 32 hexadecimal digits. */
export async function clientSecret(clientId: string, secretId: string): Promise<string> {
  const [key] = await keysOf('SIGNING_KEYS');
  return secretOf(key, clientId, secretId);
}

/** Compares `sent` with these secrets of the application, under any key, in constant time. */
export async function isClientSecret(
  clientId: string,
  secretIds: readonly string[],
  sent: string,
): Promise<boolean> {
  const bytes = Buffer.from(sent);
  const keys = await keysOf('SIGNING_KEYS');
  return keys.some((key) =>
    secretIds.some((secretId) => {
      const secret = Buffer.from(secretOf(key, clientId, secretId));
      return bytes.length === secret.length && timingSafeEqual(secret, bytes);
    }),
  );
}

function secretOf(key: KeyObject, clientId: string, secretId: string): string {
  const bytes = mac(key, 'secret', Buffer.from(clientId + secretId, 'hex'));
  return prefixes.secret + bytes.toString('base64url');
}

function mac(key: KeyObject, kind: keyof typeof prefixes, content: Buffer): Buffer {
  return createHmac('sha256', key).update(prefixes[kind]).update(content).digest();
}

function encode(content: TokenContent): Buffer {
  const { user_id, client_id, grant_id, generation, expires_at, narrowed_to } = content;
  const bytes = Buffer.alloc(contentBytes);
  bytes.write(user_id.replaceAll('-', '') + client_id + grant_id, 'hex');
  bytes.writeUInt32BE(generation, 48);
  bytes.writeUInt32BE(expires_at, 52);
  if (!narrowed_to) return bytes;
  const bits = narrowed_to.reduce((sum, scope) => sum | scopeBits[scope], 0);
  return Buffer.concat([bytes, Buffer.of(bits)]);
}

function decode(bytes: Buffer): TokenContent {
  const hex = bytes.toString('hex');
  const content: TokenContent = {
    user_id: hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    client_id: hex.slice(32, 64),
    grant_id: hex.slice(64, 96),
    generation: bytes.readUInt32BE(48),
    expires_at: bytes.readUInt32BE(52),
  };
  if (bytes.length > contentBytes) {
    content.narrowed_to = scopesIn(bytes.readUInt8(contentBytes));
  }
  return content;
}

function scopesIn(bits: number): Scope[] {
  const scopes = Object.keys(scopeBits) as Scope[];
  return scopes.filter((scope) => (bits & scopeBits[scope]) !== 0);
}
