import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
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
import { refuseForeign } from './engine-records.ts';

/** Files of a backup beside the database: without the keys all tokens and sessions are lost. */
const smallFiles = ['signing-key', 'session-key', 'version.json'];

/** Copy that was made: a folder, the size of its database, and the names of all files in it. */
export interface Copied {
  folder: string;
  database_bytes: number;
  files: string[];
}

/**
 * Copies the database and the keys of a data folder to the new folder `target`, beside traffic:
 * the copy is the database at one moment. `target` is there when it is complete, not before.
 * Throws a sentence where there is nothing to copy, or something at `target`.
 */
export async function backUp(dataDir: string, target: string): Promise<Copied> {
  const file = join(dataDir, databaseFile);
  if (!existsSync(file)) {
    throw new Error(
      `there is no database in the data folder ${dataDir}: choose another with --data-dir; a DynamoDB elsewhere has backups of its own`,
    );
  }
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Error(`${target} is not empty: choose a new folder for the backup`);
  }
  const partial = `${resolve(target)}.partial`;
  rmSync(partial, { recursive: true, force: true });
  makeFolder(partial);
  // Not read-only: such a connection leaves files behind where no service runs.
  const source = new DatabaseSync(file, { timeout: 5_000 });
  try {
    // All pages in one step: between two, a write would make it begin anew.
    await backup(source, join(partial, databaseFile), { rate: 2 ** 31 - 1 });
  } finally {
    source.close();
  }
  const copied = copySmallFiles(dataDir, partial);
  for (const name of [databaseFile, ...copied]) keep(join(partial, name));
  renameSync(partial, target);
  keep(dirname(resolve(target)));
  return report(target, copied);
}

/**
 * Copies a backup to a data folder that holds no data, while no service runs on it. Throws a
 * sentence where the folder holds some, or the backup is damaged or of newer code.
 */
export function restore(source: string, dataDir: string): Copied {
  try {
    accessSync(join(source, databaseFile), constants.R_OK);
  } catch (cause) {
    const isPrivate = (cause as NodeJS.ErrnoException).code === 'EACCES';
    const why = isPrivate
      ? `${source} cannot be read: it must belong to the user who restores it`
      : `${source} is no backup: it holds no ${databaseFile}`;
    throw new Error(why, { cause });
  }
  refuseNewer(source);
  const unlock = lockFolder(dataDir);
  try {
    const there = [
      ...[databaseFile, `${databaseFile}-wal`].filter((name) => existsSync(join(dataDir, name))),
      // What an interrupted restore has left is the same.
      ...smallFiles.filter((name) => isOther(join(dataDir, name), join(source, name))),
    ];
    if (there.length > 0) {
      throw new Error(
        `the data folder ${dataDir} holds ${there.join(', ')} already: move that away, or choose another folder with --data-dir`,
      );
    }
    const partial = join(dataDir, `${databaseFile}.new`);
    copyFileSync(join(source, databaseFile), partial);
    refuseForeign(partial);
    const copied = copySmallFiles(source, dataDir);
    for (const name of copied) keep(join(dataDir, name));
    keep(partial);
    // Last: until it is there, the restore can be repeated.
    renameSync(partial, join(dataDir, databaseFile));
    keep(dataDir);
    return report(dataDir, copied);
  } finally {
    unlock();
  }
}

function isOther(file: string, source: string): boolean {
  if (!existsSync(file)) return false;
  return !existsSync(source) || !readFileSync(file).equals(readFileSync(source));
}

function copySmallFiles(from: string, to: string): string[] {
  const names = smallFiles.filter((name) => existsSync(join(from, name)));
  for (const name of names) copyFileSync(join(from, name), join(to, name));
  return names;
}

/** Makes a file private, and waits until it is on the disk. A folder is private already. */
function keep(path: string): void {
  if (statSync(path).isFile()) chmodSync(path, 0o600);
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function report(folder: string, copied: string[]): Copied {
  const database_bytes = statSync(join(folder, databaseFile)).size;
  return { folder: resolve(folder), database_bytes, files: [databaseFile, ...copied] };
}
