import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Undo } from '../undo.ts';
import { InUse, lockFolder } from './data-folder.ts';

/** Beginning of the names of folders for data in memory. */
const temporaryName = 'review-service-';

/** A data folder that is locked for this process. */
export interface OpenFolder {
  dataDir: string;
  /** A folder for data in memory. It is `dataDir` too if another stack uses that. */
  temporary: string | undefined;
}

/** Locks the data folder. In memory it is a temporary one if another stack uses the folder. */
export function openFolder(dataDir: string, isInMemory: boolean, undo: Undo): OpenFolder {
  const temporary = isInMemory ? temporaryFolder(undo) : undefined;
  return { dataDir: hold(resolve(dataDir), undo, temporary), temporary };
}

/** Locks and returns `dataDir`, or `temporary` if another stack uses `dataDir`. */
function hold(dataDir: string, undo: Undo, temporary?: string) {
  try {
    undo.push(lockFolder(dataDir));
    return dataDir;
  } catch (error) {
    if (!(error instanceof InUse) || temporary === undefined) throw error;
    return temporary;
  }
}

/** In memory if the system can. It is a file, so that the operator's tool finds it. */
function temporaryFolder(undo: Undo) {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  deleteLeftovers(parent);
  const folder = mkdtempSync(join(parent, temporaryName));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  undo.push(lockFolder(folder));
  return folder;
}

/** Deletes temporary folders of killed stacks, which would take memory until a restart. */
function deleteLeftovers(parent: string): void {
  const folders = readdirSync(parent).filter((name) => name.startsWith(temporaryName));
  for (const folder of folders.map((name) => join(parent, name))) {
    try {
      // One without a lock was made a moment ago.
      if (!existsSync(join(folder, 'lock'))) continue;
      lockFolder(folder)();
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // In use, or of another user.
    }
  }
}
