import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { secretLifetime } from '../../shared/secrets.ts';

/** A secret with keys, as read by shared/secrets.ts. */
export type KeySecret = 'SIGNING_KEYS' | 'SESSION_KEYS' | 'WEBHOOK_KEYS';

/** In milliseconds, until every process has read the secret again. */
const settled = secretLifetime + 30_000;

/**
 * Makes a new key the first key of a deployed stack, in two steps. First every process learns to
 * verify it, then it signs. Earlier keys still verify. An interrupted rotation does no harm and can
 * be repeated. Returns the number of keys.
 */
export async function rotateKey(
  secret: KeySecret,
  wait: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<{ secret: KeySecret; keys: number }> {
  const [current = '', ...previous] = await readKeys(secret);
  const next = randomBytes(48).toString('base64url');
  await writeKeys(secret, [current, next, ...previous]);
  await wait(settled);
  return writeKeys(secret, [next, current, ...previous]);
}

/**
 * Deletes the oldest key. Everything made with it becomes invalid: tokens and client secrets,
 * sessions, or secrets of webhooks. Throws if there is only one key.
 */
export async function retireKey(secret: KeySecret): Promise<{ secret: KeySecret; keys: number }> {
  const keys = await readKeys(secret);
  if (keys.length < 2) throw new Error(`${secret} has only one key: rotate it first`);
  return writeKeys(secret, keys.slice(0, -1));
}

async function readKeys(secret: KeySecret) {
  const command = new GetSecretValueCommand({ SecretId: arnOf(secret) });
  const { SecretString = '' } = await client().send(command);
  return SecretString.split(',');
}

async function writeKeys(secret: KeySecret, keys: string[]) {
  const SecretString = keys.join(',');
  await client().send(new PutSecretValueCommand({ SecretId: arnOf(secret), SecretString }));
  return { secret, keys: keys.length };
}

function client() {
  return new SecretsManagerClient({ maxAttempts: 3 });
}

function arnOf(secret: KeySecret) {
  const arn = process.env[`${secret}_ARN`];
  if (!arn) {
    throw new Error(
      'a local stack keeps its keys in its data folder: name a stack on AWS with --stack',
    );
  }
  return arn;
}
