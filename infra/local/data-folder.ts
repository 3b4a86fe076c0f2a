import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { readDiscovery } from './discovery.ts';

/** The embedded database's file in a data folder, beside `-wal` and `-shm` while it is in use. */
export const databaseFile = 'dynamodb.sqlite';

/**
 * Version of the data folder. Code that cannot read the data of older code, or writes what older
 * code cannot read, raises it. Downgrading needs a backup then.
 */
const dataVersion = 1;

/** Says which code has last written a data folder. */
interface Mark {
  data_version: number;
  service_version: string;
}

const markFile = 'version.json';

export class InUse extends Error {}

/**
 * Holds the folder until the returned function is called, or this process ends in whatever way:
 * then the system lets go.
 */
export function lockFolder(dataDir: string): () => void {
  try {
    makeFolder(dataDir);
    const file = join(dataDir, 'lock');
    // SQLite would not tell why it cannot.
    closeSync(openSync(file, 'a', 0o600));
    const held = new DatabaseSync(file);
    held.exec('BEGIN EXCLUSIVE');
    return () => held.close();
  } catch (cause) {
    if ((cause as Error).message !== 'database is locked') throw unusable(dataDir, cause as Error);
    const pid = readDiscovery(dataDir)?.pid;
    throw new InUse(
      `the data folder ${dataDir} is in use by ${pid ? `process ${pid}` : 'another process'}: stop that, or choose another with --data-dir`,
    );
  }
}

/** An error that says how to go on without this folder. */
export function unusable(dataDir: string, cause: Error): Error {
  return new Error(
    `the data folder ${dataDir} cannot be used (${cause.message}): choose another with --data-dir`,
    { cause },
  );
}

/**
 * One by one, because `mkdirSync` with `recursive` never returns where a folder can hold none, such
 * as /proc.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another stack may have been faster.
    if (!existsSync(path)) throw error;
  }
}

/** Throws a sentence where newer code has written the data in the folder. */
export function refuseNewer(folder: string): void {
  const mark = readMark(folder);
  if (mark === undefined || mark.data_version <= dataVersion) return;
  throw new Error(
    `the data in ${folder} is of version ${mark.data_version}, written by version ${mark.service_version} of the service; this is version ${serviceVersion()}, which reads up to ${dataVersion}: run the newer code, or restore a backup from before the upgrade`,
  );
}

/**
 * Marks the data folder as written by this code, before anything else is written. Gives sentences
 * on what that changes, none where the same code wrote it last or nothing is there yet.
 */
export function markFolder(dataDir: string): string[] {
  refuseNewer(dataDir);
  const mark: Mark = { data_version: dataVersion, service_version: serviceVersion() };
  const before = readMark(dataDir);
  const file = join(dataDir, markFile);
  writeFileSync(`${file}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  if (!existsSync(join(dataDir, databaseFile))) return [];
  if (before === undefined || isDeepStrictEqual(before, mark)) return [];
  return [
    `Upgrade from ${before.service_version} to ${mark.service_version}.`,
    before.data_version === dataVersion
      ? 'The data folder stays as it is.'
      : `The data folder is of version ${dataVersion} from now on.`,
  ];
}

function readMark(folder: string): Mark | undefined {
  const file = join(folder, markFile);
  if (!existsSync(file)) return undefined;
  try {
    const mark = JSON.parse(readFileSync(file, 'utf8')) as Mark;
    if (Number.isInteger(mark.data_version)) return mark;
  } catch {
    // As below.
  }
  throw new Error(`${file} is damaged: restore it from a backup`);
}

function serviceVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
