import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeySecret, type KeyStore, keySecrets } from '../../rotate-keys.ts';
import { replaceFile } from './discovery.ts';
import { signInsFile } from './pending-sign-ins.ts';

/** Names of the files in a data folder. */
const files = {
  SIGNING_KEYS: 'signing-key',
  SESSION_KEYS: 'session-key',
  WEBHOOK_KEYS: 'webhook-key',
} as const;

/** Name of the file with the key of the sign-in by mail. */
export const signInKeyFile = 'sign-in-key';

/** Descriptions of what a key makes. */
const madeWith = {
  SIGNING_KEYS: 'all tokens and client secrets',
  SESSION_KEYS: 'all sessions',
  WEBHOOK_KEYS: 'all secrets of webhooks',
} as const;

/** In milliseconds, between two looks of a running service at its files. */
const interval = 2_000;

/** Returns the keys of a data folder, separated by commas. Creates one at the first start. */
export function localKeys(dataDir: string, secret: KeySecret): string {
  const file = join(dataDir, files[secret]);
  if (!existsSync(file)) replaceFile(file, randomBytes(32).toString('base64url'));
  return readKeys(file, secret);
}

/**
 * Returns the key of the sign-in by mail. It never changes, because the accounts of members hang on
 * it: a backup has to hold it. Throws a sentence if it is lost or damaged.
 */
export function signInKey(dataDir: string): string {
  const file = join(dataDir, signInKeyFile);
  if (!existsSync(file)) {
    const signIns = join(dataDir, signInsFile);
    if (existsSync(signIns)) {
      throw new Error(
        `the key file ${file} is missing: restore it from a backup. To start with a new key, delete ${signIns} as well; all who sign in by mail then get new accounts`,
      );
    }
    replaceFile(file, randomBytes(32).toString('base64url'));
    console.error(
      `A new key for the sign-in by mail is in ${file}. Keep it in your backups: with another key, members get new accounts.`,
    );
  }
  const key = readFileSync(file, 'utf8').trim();
  if (Buffer.from(key, 'base64url').length >= 32) return key;
  throw new Error(
    `the key file ${file} is empty or damaged: restore it from a backup; with another key, members get new accounts`,
  );
}

/** Returns the keys of a data folder, for their rotation. A service that runs follows them. */
export function folderKeys(dataDir: string, { isRunning }: { isRunning: boolean }): KeyStore {
  return {
    settled: isRunning ? 5 * interval : 0,
    async read(secret) {
      const file = join(dataDir, files[secret]);
      if (existsSync(file)) return readKeys(file, secret).split(',');
      throw new Error(
        `${file} does not exist: if the service has ${secret} from its environment, put a new key before the others there and restart it`,
      );
    },
    async write(secret, keys) {
      replaceFile(join(dataDir, files[secret]), keys.join(','));
    },
  };
}

/**
 * Sets the variables that functions read to the keys of a data folder, now and after each rotation.
 * A variable that is set already stays. Returns a function that ends this. Throws a sentence if a
 * file is damaged.
 */
export function followKeys(dataDir: string): () => void {
  const own = keySecrets.filter((secret) => !process.env[secret]);
  for (const secret of own) process.env[secret] = localKeys(dataDir, secret);
  let fault = '';
  const timer = setInterval(() => {
    try {
      for (const secret of own) {
        process.env[secret] = readKeys(join(dataDir, files[secret]), secret);
      }
      fault = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== fault) console.error(`The keys stay as they were, because ${message}`);
      fault = message;
    }
  }, interval);
  timer.unref();
  return () => clearInterval(timer);
}

function readKeys(file: string, secret: KeySecret): string {
  const remedy = `restore it from a backup, or delete it to create a new key; ${madeWith[secret]} then become invalid`;
  let keys: string;
  try {
    keys = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`the key file ${file} cannot be read (${message}): ${remedy}`, { cause });
  }
  const isComplete = keys.split(',').every((key) => Buffer.from(key, 'base64url').length >= 32);
  if (isComplete) return keys;
  throw new Error(`the key file ${file} is empty or damaged: ${remedy}`);
}
