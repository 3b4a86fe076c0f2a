import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readDiscovery, replaceFile } from './discovery.ts';

/** Name of the database file in a data folder. While in use it has `-wal` and `-shm` files. */
export const databaseFile = 'reviews.sqlite';

/**
 * Number of the format of a data folder. It is at least that of the data in it (format.ts). In
 * format 4 the database is a file of SQLite, beside which older code would find its own.
 */
const folderFormat = 4;

/** The format of a data folder, and the version of the code that last wrote it. */
interface Mark {
  /** The number of the format, under the name that all code since the first looks for. */
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
  if (mark === undefined || mark.data_version <= folderFormat) return;
  throw new Error(
    `the data in ${folder} has format ${mark.data_version}, and this code reads formats up to ${folderFormat}: run the newer code that wrote it (version ${mark.service_version}), or restore a backup from before the upgrade`,
  );
}

/**
 * Marks the data folder with the format and version of this code, before anything else is written.
 * Returns sentences for the log if the format or the version was another.
 */
export function markFolder(dataDir: string): string[] {
  refuseNewer(dataDir);
  const mark: Mark = { data_version: folderFormat, service_version: serviceVersion() };
  const before = readMark(dataDir);
  replaceFile(join(dataDir, 'version.json'), `${JSON.stringify(mark)}\n`);
  if (before === undefined) return [];
  const isOtherVersion = before.service_version !== mark.service_version;
  const versions = isOtherVersion
    ? [`Upgrade from version ${before.service_version} to ${mark.service_version}.`]
    : [];
  if (before.data_version !== folderFormat) {
    return [
      ...versions,
      `Upgrade of the data from format ${before.data_version} to ${folderFormat}. Code that reads formats up to ${before.data_version} can no longer start on it.`,
    ];
  }
  return isOtherVersion ? [...versions, `The data keeps format ${folderFormat}.`] : [];
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
  const file = new URL('../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
