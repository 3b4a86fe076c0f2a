import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { DataSettings } from '../../settings.ts';

/** `<data folder>/stack.json` while the stack runs, for programs such as the admin tool. */
export interface Discovery {
  pid: number;
  url: string | null;
  /** The issuer of the embedded identity provider; null if people sign in at another provider. */
  identity_provider: string | null;
  /** The file of the database; null on a DynamoDB. */
  database: string | null;
  /** True if people prove an address by a mail that a server sends. */
  has_mail_server?: boolean;
  dynamodb_endpoint: string | null;
  table_name: string;
  /** Number of the format of the data. Older code leaves this out, and what follows. */
  data_format?: number;
  /** Settings that the data is read with. */
  settings?: DataSettings;
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
