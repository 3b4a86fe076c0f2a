import { createSecretKey, type KeyObject } from 'node:crypto';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describeError } from './describe-error.ts';
import type { Secret } from './routes.ts';

/** Keys of one purpose. The first signs and all verify. */
export type Keys = readonly [KeyObject, ...KeyObject[]];

/** Milliseconds that a value is cached. Then a replaced key is known everywhere. */
export const secretLifetime = 300_000;

let client: SecretsManagerClient | undefined;
const cache = new Map<string, { value: Promise<string>; until: number }>();

/**
 * Reads a secret from variable `name`, or from Secrets Manager by `<NAME>_ARN`. If a later read
 * fails, returns the cached value. Throws if nothing is set, or the first read fails.
 */
export async function readSecret(name: Secret): Promise<string> {
  const value = process.env[name];
  if (value) return value;
  const arn = process.env[`${name}_ARN`];
  if (!arn) throw new Error(`${name} is not set: set it, or ${name}_ARN`);
  const cached = cache.get(arn);
  if (cached && cached.until > Date.now()) return cached.value;
  const reading = { value: fetchSecret(arn), until: Date.now() + secretLifetime };
  cache.set(arn, reading);
  try {
    return await reading.value;
  } catch (error) {
    cache.delete(arn);
    if (!cached) throw error;
    // Try again in 30 seconds.
    const described = describeError(error);
    console.warn({ message: 'A secret could not be read again', name, error: described });
    cache.set(arn, { value: cached.value, until: Date.now() + 30_000 });
    return cached.value;
  }
}

/** Reads base64url keys of at least 32 bytes, separated by commas. Throws for another form. */
export async function keysOf(name: Exclude<Secret, 'OIDC_CLIENT_SECRET'>): Promise<Keys> {
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
