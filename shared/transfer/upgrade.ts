import * as v from 'valibot';
import { rebuildTotals } from '../aggregates/rebuild.ts';
import { chunks } from '../chunks.ts';
import { rebuildNames } from '../entity/name-index.ts';
import { rebuildQueues } from '../names/queue.ts';
import { isObsolete } from '../review/owner-counts.ts';
import { recountOwners } from '../review/recount.ts';
import { listedIn, Review } from '../review/review.ts';
import type { Item } from '../table/item.ts';
import { entityKey, reviewKey, userKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { maxActions, transact, type Write } from '../table/transact.ts';

/**
 * Derives anew what older code has derived otherwise. These are index attributes of reviews, counts
 * of authors and entities, totals, rank trees, the index and the queues of names. Nothing else may
 * write meanwhile. Versions stay, so no consumer of the stream sees a change. Can be stopped
 * anywhere and repeated.
 */
export async function upgradeTable(onProgress: (items: number) => void = () => {}): Promise<void> {
  let read = 0;
  for await (const { items } of scanItems()) {
    const writes = items.flatMap((item) => upgradeOf(item) ?? []);
    for (const some of chunks(writes, maxActions)) await transact(some);
    read += items.length;
    onProgress(read);
  }
  await recountOwners(() => {});
  await rebuildTotals(() => {}, { inTransactions: true });
  await rebuildNames();
  await rebuildQueues();
}

/** Returns the write that an item needs, if it needs any. */
function upgradeOf(item: Item): Write | undefined {
  const { pk, sk } = item;
  const set = sk === reviewKey('').sk ? indexChanges(item) : obsoleteCounts(item);
  if (Object.keys(set).length === 0) return undefined;
  return { Update: { Key: { pk, sk }, set, was: { version: item.version } } };
}

function indexChanges(item: Item): Record<string, unknown> {
  const { type, kind } = listedIn(v.parse(Review, item));
  const isSame = item.type === type && item.kind === kind;
  return isSame ? {} : { type, kind };
}

function obsoleteCounts(item: Item): Record<string, unknown> {
  if (item.sk !== userKey('').sk && item.sk !== entityKey('').sk) return {};
  const names = Object.keys(item).filter(isObsolete);
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
