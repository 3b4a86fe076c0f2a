import { type StreamSpecification, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { untilUnlocked } from '../shared/aggregates/lock.ts';
import { rebuildTotals } from '../shared/aggregates/rebuild.ts';
import { recordHeartbeat } from '../shared/health/heartbeat.ts';
import { rebuildQueues } from '../shared/names/queue.ts';
import { recountOwners } from '../shared/review/recount.ts';
import { table, tableName } from '../shared/table/client.ts';
import { rebuildThings } from '../shared/things/rebuild-things.ts';
import { beginBulk, isBulkUnfinished, isEmptyTable } from '../shared/transfer/bulk.ts';
import { showProgress } from './progress.ts';

// Bulk loads, which the embedded engine takes faster without its stream, and rebuilds of totals.

const isLocal = () => process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined;

/**
 * Fills an empty table on this machine without its stream, then counts owners and totals. Until
 * then an item marks the bulk load as unfinished, and the next bulk load counts everything. Any
 * other table is filled with its stream on.
 */
export async function bulk<T extends object>(work: (isAlone: boolean) => Promise<T>) {
  const isBegun = await isBulkUnfinished();
  if (!isLocal() || (!isBegun && !(await isEmptyTable()))) return work(false);
  if (isBegun) {
    console.error('An earlier import was interrupted: this import recounts everything at its end');
  }
  const end = await beginBulk();
  const working = withoutStream(async () => {
    const outcome = await work(true);
    await recountOwners(showProgress('Counting'));
    return outcome;
  });
  const result = await working.catch(async (error) => {
    // A file that cannot be read at all has written nothing.
    if (await isEmptyTable()) await end();
    throw error;
  });
  const totals = await rebuild(showProgress('Listing'));
  await end();
  // The consumers have seen no heartbeat while the stream was off.
  await recordHeartbeat();
  return { ...result, totals };
}

/** Runs `work` with the stream off. The embedded engine slows down with every stream record. */
export async function withoutStream<T>(work: () => Promise<T>): Promise<T> {
  const setStream = (StreamSpecification: StreamSpecification) =>
    table.send(new UpdateTableCommand({ TableName: tableName(), StreamSpecification }));
  await setStream({ StreamEnabled: false });
  try {
    return await work();
  } finally {
    await setStream({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  }
}

/**
 * Recomputes totals, rank trees, entries of things, and the queues of names. Waits for another
 * rebuild, or for the lock of a killed one.
 */
export async function rebuild(onProgress?: (items: number) => void) {
  await untilUnlocked(console.error);
  const rebuilt = await rebuildTotals(onProgress, { inTransactions: isLocal() });
  const names = await rebuildThings(onProgress);
  await rebuildQueues();
  return { ...rebuilt, names };
}
