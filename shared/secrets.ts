import type { Secret } from './routes.ts';

/** Keys of one purpose: the first makes, all of them verify, so that a key can be replaced. */
export type Keys = readonly [Buffer, ...Buffer[]];

/** The value of a secret: from the environment variable of its name. Throws when it is not set. */
export async function readSecret(name: Secret): Promise<string> {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/** A secret that holds keys: base64url, at least 32 bytes each, separated by commas. Throws when it is not of this form. */
export async function keysOf(name: 'SIGNING_KEYS' | 'SESSION_KEYS'): Promise<Keys> {
  const list = await readSecret(name);
  const [current, ...previous] = list.split(',').map((key) => Buffer.from(key, 'base64url'));
  if (!current || [current, ...previous].some(({ length }) => length < 32)) {
    throw new Error(`${name} must hold base64url keys of at least 32 bytes, separated by commas`);
  }
  return [current, ...previous];
}
