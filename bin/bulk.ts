import { SqliteStorage } from '../shared/base/table/sqlite/storage.ts';
import { storage } from '../shared/base/table/storage.ts';
import { recountOwners } from '../shared/features/audit/public.ts';
import { recordHeartbeat } from '../shared/features/health/public.ts';
import {
  beginBulk,
  isBulkUnfinished,
  isEmptyTable,
  rebuildAll,
} from '../shared/features/transfer/public.ts';
import { showProgress } from './progress.ts';

// Bulk loads, which are faster without records of changes.

/**
 * Fills an empty table of SQLite without records of the changes, then counts owners and totals.
 * Until then an item marks the bulk load as unfinished, and the next bulk load counts everything.
 * In any other table, consumers follow the changes.
 */
export async function bulk<T extends object>(work: (isAlone: boolean) => Promise<T>) {
  const isBegun = await isBulkUnfinished();
  if (!storage() || (!isBegun && !(await isEmptyTable()))) return work(false);
  if (isBegun) {
    console.error(
      'An earlier import was interrupted: this import counts what that one wrote as present, and recounts everything at its end',
    );
  }
  const end = await beginBulk();
  const working = withoutRecords(async () => {
    const outcome = await work(true);
    await recountOwners(showProgress('Counting'));
    return outcome;
  });
  const result = await working.catch(async (error) => {
    // A file that cannot be read at all has written nothing.
    if (await isEmptyTable()) await end();
    throw error;
  });
  const totals = await rebuildAll(showProgress('Listing'));
  await end();
  // The consumers have seen no heartbeat meanwhile.
  await recordHeartbeat();
  return { ...result, totals };
}

/** Runs `work`, whose writes leave no records of changes. Other processes keep theirs. */
export async function withoutRecords<T>(work: () => Promise<T>): Promise<T> {
  const current = storage();
  return current instanceof SqliteStorage ? current.inBulk(work) : work();
}
