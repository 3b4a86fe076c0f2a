// The work on a file, a part at a time.

import { StaleRead, transact, type Write } from '../../base/table/transact.ts';
import { bringRows, undoRows } from './bring-rows.ts';
import {
  type BroughtFile,
  change,
  findFile,
  type Row,
  readRows,
  type Task,
} from './brought-file.ts';
import { findRows } from './find-rows.ts';
import { rowsKey } from './kinds.ts';

/**
 * Milliseconds after which others have their turn. The work shares the stream with erasures, which
 * wait for no more than this.
 */
const longestStep = 1_000;

const works: Readonly<Record<Task, (file: BroughtFile, rows: readonly Row[]) => Promise<Row[]>>> = {
  find: findRows,
  bring: bringRows,
  undo: undoRows,
};

/**
 * Does the next step of a file, if it is at this version. The record of the change of its head
 * leads to the step after it, so a step is repeated after a crash, and no two run at once for long.
 */
export async function advanceFile(userId: string, slot: number, version: number): Promise<void> {
  const end = performance.now() + longestStep;
  let file = await findFile(userId, slot);
  // A later change has a record of its own.
  if (file?.version !== version) return;
  try {
    while (file?.task && performance.now() < end) file = await takeStep(file, file.task);
  } catch (error) {
    // Somebody else has changed the head, or the account is gone.
    if (!(error instanceof StaleRead)) throw error;
  }
}

/** Works on the next part. The rows and the head change together, or not at all. */
async function takeStep(file: BroughtFile, task: Task): Promise<BroughtFile | undefined> {
  const { user_id, slot, id, next, parts, expires_at } = file;
  const before = await readRows(file, next);
  const rows = await works[task](file, before);
  const counts = { ...file.counts };
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
  const isLast = next + 1 >= parts;
  const set = { counts, next: next + 1, task: isLast ? undefined : task };
  const Item = { ...rowsKey(user_id, id, next), rows, expires_at };
  const writes: Write[] = before.length > 0 ? [{ Put: { Item } }] : [];
  await transact([change(file, set), ...writes]);
  return findFile(user_id, slot);
}
