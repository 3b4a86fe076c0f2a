import * as v from 'valibot';
import { untilUnlocked } from '../aggregates/lock.ts';
import { rebuildTotals } from '../aggregates/rebuild.ts';
import { chunks } from '../chunks.ts';
import { rebuildQueues } from '../names/queue.ts';
import { moveOfLongText } from '../review/long-text.ts';
import { isObsolete } from '../review/owner-counts.ts';
import { recountOwners } from '../review/recount.ts';
import { listedIn, Review } from '../review/review.ts';
import type { Item } from '../table/item.ts';
import { entityKey, reviewKey, userKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { maxActions, transact, type Write } from '../table/transact.ts';
import { rebuildThings } from '../things/rebuild-things.ts';

/**
 * Derives anew what older code has derived otherwise. These are index attributes of reviews, counts
 * of authors and entities, totals, rank trees, entries of things, the queues of names. Moves long
 * texts of reviews to items of their own. Nothing else may write meanwhile. Versions stay, so no
 * consumer of the stream sees a change. Can be stopped anywhere and repeated.
 */
export async function upgradeTable(onProgress: (items: number) => void = () => {}): Promise<void> {
  let read = 0;
  for await (const { items } of scanItems()) {
    const upgrades = items.map(upgradeOf);
    const single = upgrades.flatMap((writes) => (writes.length === 1 ? writes : []));
    for (const some of chunks(single, maxActions)) await transact(some);
    // A text moves in a transaction of its own.
    for (const writes of upgrades) if (writes.length > 1) await transact(writes);
    read += items.length;
    onProgress(read);
  }
  await recountOwners(() => {});
  // An upgrade that was killed has left its lock.
  await untilUnlocked(console.error);
  await rebuildTotals(() => {}, { inTransactions: true });
  await rebuildThings();
  await rebuildQueues();
}

/** Returns the writes that an item needs, if it needs any: two for the text of a review. */
function upgradeOf(item: Item): Write[] {
  if (item.sk === reviewKey('').sk) return upgradeOfReview(item);
  return change(item, obsoleteCounts(item));
}

function change(item: Item, set: Record<string, unknown>): Write[] {
  const { pk, sk, version } = item;
  return Object.keys(set).length > 0
    ? [{ Update: { Key: { pk, sk }, set, was: { version } } }]
    : [];
}

function upgradeOfReview(item: Item): Write[] {
  const stored = v.parse(Review, item);
  const { type, kind } = listedIn(stored);
  const isSame = item.type === type && item.kind === kind;
  const index = isSame ? {} : { type, kind };
  const move = moveOfLongText(stored);
  if (!move) return change(item, index);
  return [...change(item, { ...index, ...move.set }), { Put: { Item: move.longText } }];
}

function obsoleteCounts(item: Item): Record<string, unknown> {
  if (item.sk !== userKey('').sk && item.sk !== entityKey('').sk) return {};
  const names = Object.keys(item).filter(isObsolete);
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
