import { createSecretKey, type KeyObject } from 'node:crypto';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describeError } from './describe-error.ts';
import type { Secret } from './routes.ts';

/** Keys of one purpose: the first makes, all of them verify, so that a key can be replaced. */
export type Keys = readonly [KeyObject, ...KeyObject[]];

/** How long a process goes on with a value from Secrets Manager, in milliseconds: a replaced key is known everywhere after it. */
export const secretLifetime = 300_000;

let client: SecretsManagerClient | undefined;
const kept = new Map<string, { value: Promise<string>; until: number }>();

/**
 * The value of a secret: from the environment variable of its name, or from Secrets Manager where `<NAME>_ARN` says which
 * one it is. Throws when neither is set, or when it cannot be read and was never read before.
 */
export async function readSecret(name: Secret): Promise<string> {
  const value = process.env[name];
  if (value) return value;
  const arn = process.env[`${name}_ARN`];
  if (!arn) throw new Error(`${name} is not set`);
  const before = kept.get(arn);
  if (before && before.until > Date.now()) return before.value;
  const reading = { value: fetchSecret(arn), until: Date.now() + secretLifetime };
  kept.set(arn, reading);
  try {
    return await reading.value;
  } catch (error) {
    kept.delete(arn);
    if (!before) throw error;
    // The keys of five minutes ago are better than none: they are tried again in half a minute.
    console.warn({
      message: 'A secret could not be read again',
      name,
      error: describeError(error),
    });
    kept.set(arn, { value: before.value, until: Date.now() + 30_000 });
    return before.value;
  }
}

/** A secret that holds keys: base64url, at least 32 bytes each, separated by commas. Throws when it is not of this form. */
export async function keysOf(name: 'SIGNING_KEYS' | 'SESSION_KEYS'): Promise<Keys> {
  const list = await readSecret(name);
  const keys = list.split(',').map((key) => createSecretKey(key, 'base64url'));
  if (keys.some(({ symmetricKeySize = 0 }) => symmetricKeySize < 32)) {
    throw new Error(`${name} must hold base64url keys of at least 32 bytes, separated by commas`);
  }
  return keys as [KeyObject, ...KeyObject[]];
}

async function fetchSecret(SecretId: string): Promise<string> {
  client ??= new SecretsManagerClient({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
    },
  });
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
  if (!SecretString) throw new Error('The secret is empty');
  return SecretString;
}
