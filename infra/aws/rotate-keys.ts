import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { secretLifetime } from '../../shared/secrets.ts';

/** A secret that holds keys, as shared/secrets.ts reads it. */
export type KeySecret = 'SIGNING_KEYS' | 'SESSION_KEYS';

/** Until no process goes on with what it read before, in milliseconds. */
const settled = secretLifetime + 30_000;

/**
 * Puts a new key in front of a deployed stack's keys, in two steps: first every process learns to verify it, then it signs. All earlier
 * keys go on verifying. Stopped in between it has done no harm, and can be run again. Gives how many keys there are.
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
 * Drops the oldest key. What was made with it is refused from then on: tokens and client secrets of that time, or sessions. Throws when
 * there is only one.
 */
export async function retireKey(secret: KeySecret): Promise<{ secret: KeySecret; keys: number }> {
  const keys = await readKeys(secret);
  if (keys.length < 2) throw new Error(`${secret} holds one key only: rotate it first`);
  return writeKeys(secret, keys.slice(0, -1));
}

async function readKeys(secret: KeySecret): Promise<string[]> {
  const { SecretString = '' } = await client().send(
    new GetSecretValueCommand({ SecretId: arnOf(secret) }),
  );
  return SecretString.split(',');
}

async function writeKeys(secret: KeySecret, keys: string[]) {
  await client().send(
    new PutSecretValueCommand({ SecretId: arnOf(secret), SecretString: keys.join(',') }),
  );
  return { secret, keys: keys.length };
}

function client(): SecretsManagerClient {
  return new SecretsManagerClient({ maxAttempts: 3 });
}

function arnOf(secret: KeySecret): string {
  const arn = process.env[`${secret}_ARN`];
  if (!arn)
    throw new Error(
      'a local stack keeps its keys in its data folder: name one on AWS with --stack',
    );
  return arn;
}
