import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Secrets with keys. */
export const keySecrets = ['SIGNING_KEYS', 'SESSION_KEYS', 'WEBHOOK_KEYS'] as const;

/** A secret with keys, as read by shared/base/secrets.ts. */
export type KeySecret = (typeof keySecrets)[number];

/** A place for the keys of a service. The first key signs and all verify. */
export interface KeyStore {
  read(secret: KeySecret): Promise<readonly string[]>;
  write(secret: KeySecret, keys: readonly string[]): Promise<void>;
  /** Milliseconds after a write, until every process uses what was written. */
  settled: number;
}

interface KeyCount {
  secret: KeySecret;
  keys: number;
}

/**
 * Makes a new key the first key, in two steps. First every process learns to verify it, then it
 * signs. Earlier keys still verify. An interrupted rotation does no harm and can be repeated.
 * Returns the number of keys.
 */
export async function rotateKey(
  store: KeyStore,
  secret: KeySecret,
  wait: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<KeyCount> {
  const [current = '', ...previous] = await store.read(secret);
  const next = randomBytes(48).toString('base64url');
  await store.write(secret, [current, next, ...previous]);
  await wait(store.settled);
  const keys = [next, current, ...previous];
  await store.write(secret, keys);
  return { secret, keys: keys.length };
}

/**
 * Deletes the oldest key. Everything made with it becomes invalid: tokens and client secrets,
 * sessions, or secrets of webhooks. Throws if there is only one key.
 */
export async function retireKey(store: KeyStore, secret: KeySecret): Promise<KeyCount> {
  const keys = await store.read(secret);
  if (keys.length < 2) throw new Error(`${secret} has only one key: rotate it first`);
  await store.write(secret, keys.slice(0, -1));
  return { secret, keys: keys.length - 1 };
}
