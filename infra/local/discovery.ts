import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What other programs, such as the admin tool, find in `<data folder>/stack.json` while the stack runs. */
export interface Discovery {
  pid: number;
  engine_pid: number | null;
  url: string | null;
  /** The issuer of the embedded identity provider; null where people sign in at another. */
  identity_provider: string | null;
  dynamodb_endpoint: string | null;
  table_name: string;
}

/** What the stack that runs on the data folder, or was killed there, says of itself. */
export function readDiscovery(dataDir: string): Discovery | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8'));
  } catch {
    // No stack has run here, or none was stopped by force.
    return undefined;
  }
}

/** Says how to find this stack. */
export function announce(dataDir: string, discovery: Discovery): void {
  replaceFile(join(dataDir, 'stack.json'), `${JSON.stringify(discovery, null, 2)}\n`);
}

/** Says that there is no stack any more. */
export function retract(dataDir: string): void {
  rmSync(join(dataDir, 'stack.json'), { force: true });
}

/** A key of this data folder, made at the first start: of its tokens, or of its sessions. Throws a sentence where the file holds none. */
export function localKey(dataDir: string, name: 'signing-key' | 'session-key'): string {
  const file = join(dataDir, name);
  if (!existsSync(file)) replaceFile(file, randomBytes(32).toString('base64url'));
  const lost = name === 'signing-key' ? 'all tokens and client secrets' : 'all sessions';
  const wayOut = `put it back, or delete it for a new one, which ends ${lost}`;
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (Buffer.from(key, 'base64url').length >= 32) return key;
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`the key ${file} cannot be read (${message}): ${wayOut}`, { cause });
  }
  throw new Error(`the key ${file} is empty or damaged: ${wayOut}`);
}

/** Whoever reads the file finds the old or the new text, never a part. Only its owner can read it. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
