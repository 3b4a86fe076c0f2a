import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { readDiscovery, replaceFile } from './discovery.ts';

/** Name of the database file in a data folder. While in use it has `-wal` and `-shm` files. */
export const databaseFile = 'dynamodb.sqlite';

/**
 * Version of the data folder. Raise it when the code cannot read the data of older code, or writes
 * data that older code cannot read. A downgrade then needs a backup.
 */
const dataVersion = 2;

/** The version of the code that last wrote a data folder. */
interface Mark {
  data_version: number;
  service_version: string;
}

export class InUse extends Error {}

/** Locks the folder until the returned function is called, or this process ends in any way. */
export function lockFolder(dataDir: string): () => void {
  try {
    makeFolder(dataDir);
    const file = join(dataDir, 'lock');
    // SQLite would not give the reason for a failure.
    closeSync(openSync(file, 'a', 0o600));
    const lock = new DatabaseSync(file);
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (cause) {
    if ((cause as Error).message !== 'database is locked') throw unusable(dataDir, cause as Error);
    const pid = readDiscovery(dataDir)?.pid;
    throw new InUse(
      `the data folder ${dataDir} is in use by ${pid ? `process ${pid}` : 'another process'}: stop that process, or choose another folder with --data-dir`,
    );
  }
}

/** Returns an error that names the folder, the cause and the remedy. */
export function unusable(dataDir: string, cause: Error): Error {
  return new Error(
    `the data folder ${dataDir} cannot be used (${cause.message}): choose another folder with --data-dir`,
    { cause },
  );
}

/** Makes parents one by one. `recursive` never returns where none can be made, such as /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another stack may have made it in the meantime.
    if (!existsSync(path)) throw error;
  }
}

/** Throws a sentence if newer code has written the data in the folder. */
export function refuseNewer(folder: string): void {
  const mark = readMark(folder);
  if (mark === undefined || mark.data_version <= dataVersion) return;
  throw new Error(
    `the data in ${folder} has version ${mark.data_version} and was written by version ${mark.service_version} of the service. This is version ${serviceVersion()}, which reads data up to version ${dataVersion}: run the newer code, or restore a backup from before the upgrade`,
  );
}

/**
 * Marks the data folder with the version of this code, before anything else is written. Returns
 * sentences for the log if other code wrote the folder last.
 */
export function markFolder(dataDir: string): string[] {
  refuseNewer(dataDir);
  const mark: Mark = { data_version: dataVersion, service_version: serviceVersion() };
  const before = readMark(dataDir);
  replaceFile(join(dataDir, 'version.json'), `${JSON.stringify(mark)}\n`);
  if (!existsSync(join(dataDir, databaseFile))) return [];
  if (before === undefined || isDeepStrictEqual(before, mark)) return [];
  return [
    `Upgrade from ${before.service_version} to ${mark.service_version}.`,
    before.data_version === dataVersion
      ? 'The format of the data folder has not changed.'
      : `The data folder now has version ${dataVersion}.`,
  ];
}

function readMark(folder: string): Mark | undefined {
  const file = join(folder, 'version.json');
  if (!existsSync(file)) return undefined;
  try {
    const mark = JSON.parse(readFileSync(file, 'utf8')) as Mark;
    if (Number.isInteger(mark.data_version)) return mark;
  } catch {
    // Damaged, as below.
  }
  throw new Error(`${file} is damaged: restore it from a backup`);
}

function serviceVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
