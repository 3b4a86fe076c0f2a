import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** `<data folder>/stack.json` while the stack runs, for programs such as the admin tool. */
export interface Discovery {
  pid: number;
  engine_pid: number | null;
  url: string | null;
  /** The issuer of the embedded identity provider; null if people sign in at another provider. */
  identity_provider: string | null;
  dynamodb_endpoint: string | null;
  table_name: string;
}

/** Reads the entry of the stack that runs on the data folder, or was killed there. */
export function readDiscovery(dataDir: string): Discovery | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

export function announce(dataDir: string, discovery: Discovery): void {
  replaceFile(join(dataDir, 'stack.json'), `${JSON.stringify(discovery, null, 2)}\n`);
}

export function retract(dataDir: string): void {
  rmSync(join(dataDir, 'stack.json'), { force: true });
}

/** The keys of a data folder, and what each makes. */
const madeWith = {
  'signing-key': 'all tokens and client secrets',
  'session-key': 'all sessions',
  'webhook-key': 'all secrets of webhooks',
} as const;

/** Returns a key of this data folder, created at the first start. Throws a sentence if damaged. */
export function localKey(dataDir: string, name: keyof typeof madeWith): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) replaceFile(file, randomBytes(32).toString('base64url'));
  const remedy = `restore it from a backup, or delete it to create a new key; ${madeWith[name]} then become invalid`;
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (Buffer.from(key, 'base64url').length >= 32) return key;
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`the key file ${file} cannot be read (${message}): ${remedy}`, { cause });
  }
  throw new Error(`the key file ${file} is empty or damaged: ${remedy}`);
}

/**
 * Replaces a file atomically, so that neither a reader nor a power failure leaves a part. Only its
 * owner can read it.
 */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  makeDurable(`${file}.new`);
  renameSync(`${file}.new`, file);
  makeDurable(dirname(file));
}

/** Writes a file or folder to the disk (fsync), and makes a file readable by its owner only. */
export function makeDurable(path: string): void {
  if (statSync(path).isFile()) chmodSync(path, 0o600);
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
