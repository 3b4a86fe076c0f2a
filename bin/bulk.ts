import { setTimeout as sleep } from 'node:timers/promises';
import { type StreamSpecification, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { isRebuilding } from '../shared/aggregates/lock.ts';
import { rebuildTotals } from '../shared/aggregates/rebuild.ts';
import { recountOwners } from '../shared/review/owner-counts.ts';
import { table, tableName } from '../shared/table/client.ts';
import { beginBulk, isBulkUnfinished, isEmptyTable } from '../shared/transfer/bulk.ts';
import { showProgress } from './progress.ts';

/** Seconds to wait for another rebuild. Without a sign of life its lock expires after 60. */
const patience = 90;

/**
 * Fills an empty table on this machine without its stream, which slows the embedded engine down,
 * and then counts owners and totals. An item of the table says so until then: whoever finds it
 * counts everything. Any other table follows its stream.
 */
export async function bulk<T extends object>(work: (isAlone: boolean) => Promise<T>) {
  if (!isLocal()) return work(false);
  const isBegun = await isBulkUnfinished();
  if (!isBegun && !(await isEmptyTable())) return work(false);
  if (isBegun)
    console.error('An import was interrupted here: this one counts everything at its end');
  const end = await beginBulk();
  let result: T;
  try {
    result = await withoutStream(async () => {
      const worked = await work(true);
      await recountOwners(showProgress('Counting'));
      return worked;
    });
  } catch (error) {
    // A file that cannot be read at all has begun nothing.
    if (await isEmptyTable()) await end();
    throw error;
  }
  const totals = await rebuild(showProgress('Listing'));
  await end();
  return { ...result, totals };
}

/** Works while the embedded engine, which slows down with every record in its stream, keeps none. */
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

/** Whether the table is on this machine. */
function isLocal(): boolean {
  return process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined;
}

/**
 * Computes totals and rank trees anew, as fast as the engine lets us. Waits for another rebuild, or
 * the lock that a killed one has left.
 */
export async function rebuild(onProgress?: (items: number) => void) {
  for (let waited = 0; waited < patience && (await isRebuilding()); waited++) {
    if (waited === 0) {
      console.error(
        `Another rebuild is at work, or was interrupted: waiting up to ${patience} s for its lock`,
      );
    }
    await sleep(1_000);
  }
  return rebuildTotals(onProgress, { inTransactions: isLocal() });
}
