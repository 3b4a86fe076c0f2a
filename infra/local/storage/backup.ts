import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { databaseFile, lockFolder, makeFolder, refuseNewer } from './data-folder.ts';
import { refuseForeign } from './database-file.ts';
import { makeDurable, replaceFile } from './discovery.ts';
import { formerDatabaseFile, formerTable } from './former-database.ts';
import { signInKeyFile } from './key-store.ts';

/**
 * Small files of a backup. Without the keys all tokens and sessions become invalid, and members who
 * sign in by mail lose their accounts.
 */
const smallFiles = ['signing-key', 'session-key', 'webhook-key', signInKeyFile, 'version.json'];

/** Names of the database. A backup of a former release is moved by the first start on it. */
const databaseFiles = [databaseFile, formerDatabaseFile];

/** Name of a database in a data folder until a restore has copied it. */
const partialOf = (name: string) => `${name}.new`;

/** Name of a file in a data folder that was restored, until the service has started on it. */
const restoredFile = 'restored';

interface CopyResult {
  folder: string;
  database_bytes: number;
  files: string[];
}

/**
 * Copies the database and the keys of a data folder to the new folder `target`, while the service
 * may run. The copy is a snapshot of one moment. `target` appears only when it is complete. Throws
 * a sentence if there is no database, or if `target` is not empty.
 */
export async function backUp(dataDir: string, target: string): Promise<CopyResult> {
  const file = join(dataDir, databaseFile);
  if (!existsSync(file)) {
    throw new Error(
      `there is no database in the data folder ${dataDir}: choose another folder with --data-dir. For a DynamoDB elsewhere, use its own backups`,
    );
  }
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty: choose a new folder for the backup`);
  }
  const partial = `${resolve(target)}.partial`;
  rmSync(partial, { recursive: true, force: true });
  makeFolder(partial);
  // Not read-only, because a read-only connection leaves files behind if no service runs.
  const source = new DatabaseSync(file, { timeout: 5_000 });
  try {
    // All pages in one step. A write between two steps would restart the backup.
    await backup(source, join(partial, databaseFile), { rate: 2 ** 31 - 1 });
  } finally {
    source.close();
  }
  const names = copySmallFiles(dataDir, partial);
  makeDurable(join(partial, databaseFile));
  renameSync(partial, target);
  makeDurable(dirname(resolve(target)));
  return report(target, names);
}

/**
 * Deletes the backups beside `target` that are older than so many days, and returns their folders.
 * A folder with anything else than the files of a backup stays.
 */
export function deleteOldBackups(target: string, days: number): string[] {
  const parent = dirname(resolve(target));
  const siblings = readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(parent, name));
  const oldest = Date.now() - days * 86_400_000;
  const isOld = (folder: string) => statSync(join(folder, 'version.json')).mtimeMs < oldest;
  const old = siblings.filter((folder) => isBackup(folder) && isOld(folder)).toSorted();
  for (const folder of old) rmSync(folder, { recursive: true });
  return old;
}

/** Returns true for a folder with the files of a backup, and no others. */
function isBackup(folder: string): boolean {
  const names = readdirSync(folder);
  const known = [...databaseFiles, ...smallFiles];
  return (
    databaseFiles.some((name) => names.includes(name)) &&
    names.includes('version.json') &&
    names.every((name) => known.includes(name))
  );
}

/**
 * Copies a backup to a data folder without data, while no service runs on the folder. Throws a
 * sentence if the folder has data, or if the backup is damaged or from newer code.
 */
export function restore(source: string, dataDir: string): CopyResult {
  const name = databaseFiles.find((each) => existsSync(join(source, each))) ?? databaseFile;
  try {
    closeSync(openSync(join(source, name), 'r'));
  } catch (cause) {
    const isPrivate = (cause as NodeJS.ErrnoException).code === 'EACCES';
    const why = isPrivate
      ? `${source} cannot be read: make the user who restores it its owner`
      : `${source} is not a backup: it contains no ${databaseFile}`;
    throw new Error(why, { cause });
  }
  refuseNewer(source);
  const unlock = lockFolder(dataDir);
  try {
    const existing = [
      ...databaseFiles
        .flatMap((each) => [each, `${each}-wal`])
        .filter((each) => existsSync(join(dataDir, each))),
      // Equal files are left over from an interrupted restore.
      ...smallFiles.filter((name) => isOther(join(dataDir, name), join(source, name))),
    ];
    if (existing.length > 0) {
      throw new Error(
        `the data folder ${dataDir} already contains ${existing.join(', ')}: move these files away, or choose another folder with --data-dir`,
      );
    }
    const partial = join(dataDir, partialOf(name));
    copyFileSync(join(source, name), partial);
    refuseDamaged(join(source, name), partial);
    const names = copySmallFiles(source, dataDir);
    makeDurable(partial);
    replaceFile(join(dataDir, restoredFile), '');
    // The database comes last. Until then the restore can be repeated.
    renameSync(partial, join(dataDir, name));
    makeDurable(dataDir);
    return report(dataDir, names, name);
  } finally {
    unlock();
  }
}

/** Throws a sentence if a restore was interrupted. A start would begin an empty database. */
export function refusePartialRestore(dataDir: string): void {
  const isIn = (name: string) => existsSync(join(dataDir, name));
  const partial = databaseFiles.map(partialOf).find(isIn);
  if (partial === undefined || databaseFiles.some(isIn)) return;
  throw new Error(
    `a restore to the data folder ${dataDir} was interrupted: repeat it (npm run admin -- --data-dir ${dataDir} restore <backup>), or delete ${join(dataDir, partial)} to start with an empty database`,
  );
}

/** Calls `begin` at the first start after a restore, and again at the next start if it fails. */
export async function afterRestore(dataDir: string, begin: () => Promise<unknown>): Promise<void> {
  const file = join(dataDir, restoredFile);
  if (!existsSync(file)) return;
  await begin();
  rmSync(file);
}

/** Throws a sentence, and deletes the copy, if the copied database is damaged or another's. */
function refuseDamaged(source: string, copy: string) {
  const remedy = 'choose another backup. The data folder is unchanged';
  const table = source.endsWith(formerDatabaseFile) ? formerTable : undefined;
  try {
    refuseForeign(copy, { table, name: source, remedy });
  } catch (error) {
    for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true });
    throw error;
  }
}

function isOther(file: string, source: string) {
  if (!existsSync(file)) return false;
  return !existsSync(source) || !readFileSync(file).equals(readFileSync(source));
}

function copySmallFiles(from: string, to: string) {
  const names = smallFiles.filter((name) => existsSync(join(from, name)));
  for (const name of names) {
    copyFileSync(join(from, name), join(to, name));
    makeDurable(join(to, name));
  }
  return names;
}

function report(folder: string, names: string[], database = databaseFile): CopyResult {
  const database_bytes = statSync(join(folder, database)).size;
  return { folder: resolve(folder), database_bytes, files: [database, ...names] };
}
