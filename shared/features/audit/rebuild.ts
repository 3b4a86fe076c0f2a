import { chunksOf } from '../../base/chunks.ts';
import { ApiError, serviceUnavailable } from '../../base/errors.ts';
import { isTotalKey } from '../../base/list/keys.ts';
import { rootKey } from '../../base/list/totals.ts';
import { batchWrite } from '../../base/table/batch.ts';
import type { Item } from '../../base/table/item.ts';
import { type Progress, queryItems, scanItems } from '../../base/table/query.ts';
import { maxActions, transact, type Write } from '../../base/table/transact.ts';
import { projectionItem } from '../../core/aggregates/contribution.ts';
import { markTrees } from '../../core/aggregates/grow.ts';
import { type Lock, takeLock } from '../../core/aggregates/lock.ts';
import { copySums } from '../../core/aggregates/sums.ts';
import { formerNodesKey } from '../../core/keys.ts';
import { Tally } from './tally.ts';

/** A write of the rebuild. */
type Change = Parameters<typeof batchWrite>[0][number];

interface RebuildOptions {
  /**
   * For the embedded engine, which waits for the disk once for a transaction, but for each item of
   * a batch. On AWS transactions cost twice the units.
   */
  inTransactions?: boolean;
  /**
   * Deploys this code over code with other keys of nodes (`hasFormerNodes`), which reads its own
   * nodes until then. Must call `keepLock` every ten seconds. If it fails, no former node has
   * changed.
   */
  deploy?: (keepLock: () => Promise<void>) => Promise<void>;
}

/**
 * Recomputes totals and rank trees from the table, while the consumer of the stream waits. Returns
 * how many reviews, users and wrong projections there were. Throws ApiError 503 if the table is
 * busy or the lock is taken or lost.
 */
export async function rebuildTotals(
  onProgress?: Progress,
  options: RebuildOptions = {},
): Promise<{ reviews: number; users: number; corrected_projections: number }> {
  const tally = new Tally();
  try {
    const lock = await takeLock();
    try {
      return await rebuild(tally, onProgress, lock, options);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw serviceUnavailable(
      `${error.message}. Counts of lists and far pages may be wrong until this has run: npm run admin -- aggregates rebuild`,
    );
  } finally {
    tally.close();
  }
}

/** Returns true while older code's nodes are there. A rebuild deletes those of all users last. */
export async function hasFormerNodes(): Promise<boolean> {
  const { value: nodes = [] } = await queryItems(formerNodesKey, { pageSize: 1 }).next();
  return nodes.length > 0;
}

async function rebuild(
  tally: Tally,
  onProgress: Progress | undefined,
  lock: Lock,
  { inTransactions = false, deploy }: RebuildOptions,
) {
  const keepLock = lock.keep;
  for await (const { items } of scanItems({ onProgress })) {
    tally.add(items);
    await keepLock();
  }
  for (const _ of tally.countActual()) await keepLock();
  // Skips what is undefined, but keeps the lock meanwhile.
  const writeAll = async (changes: Iterable<Change | undefined>) => {
    let written = 0;
    // One request at a time, so that at most one is written after an unnoticed pause.
    for (const some of chunksOf(changes, inTransactions ? maxActions : 25)) {
      await keepLock();
      const due = some.filter((change) => change !== undefined);
      if (due.length === 0) continue;
      await (inTransactions ? transact(due.map(inTransaction)) : batchWrite(due));
      written += due.length;
    }
    return written;
  };
  const nodes = () => tally.items().filter((item) => !isTotalKey(item));
  const isRoot = ({ sk }: Item) => sk === rootKey('').sk;
  if (deploy) {
    // Older code has the same roots, and no other of these nodes.
    await writeAll(nodes().flatMap((put) => (isRoot(put) ? [] : [{ put }])));
    await deploy(keepLock);
  }
  // Before the other nodes, which include these counts. If the rebuild were interrupted later, the
  // consumer would add them again.
  await writeAll(tally.deferred().map((key) => ({ delete: key })));
  const corrected_projections = await writeAll(
    tally.corrections().map((each) => each && { put: projectionItem(each) }),
  );
  await writeAll(nodes().flatMap((put) => (deploy && !isRoot(put) ? [] : [{ put }])));
  await lock.putTotals([...tally.items().filter(isTotalKey)]);
  await copySums();
  for (const owner of tally.owners()) {
    await keepLock();
    await markTrees(owner, 'ready');
  }
  const obsolete = tally.obsolete().filter((key) => !isTotalKey(key));
  await writeAll(obsolete.map((key) => ({ delete: key })));
  return { ...tally.numbers(), corrected_projections };
}

function inTransaction(change: Change): Write {
  return 'put' in change ? { Put: { Item: change.put } } : { Delete: { Key: change.delete } };
}
