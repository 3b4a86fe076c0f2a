import * as v from 'valibot';
import { chunks } from '../../base/chunks.ts';
import type { Item } from '../../base/table/item.ts';
import { type Progress, scanItems } from '../../base/table/query.ts';
import { storage } from '../../base/table/storage.ts';
import { maxActions, transact, type Write } from '../../base/table/transact.ts';
import { untilUnlocked } from '../../core/aggregates/lock.ts';
import { caseKey, entityKey, reviewKey, userKey } from '../../core/keys.ts';
import { Case, queuedIn } from '../../core/review/case.ts';
import { moveOfLongText } from '../../core/review/long-text.ts';
import { isObsolete } from '../../core/review/owner-counts.ts';
import { listedIn, Review } from '../../core/review/review.ts';
import { rebuildTotals, recountOwners } from '../audit/public.ts';
import { rebuildQueues } from '../names/public.ts';
import { rebuildThings } from '../things/public.ts';

/**
 * Derives anew what older code has derived otherwise. These are index attributes of reviews and
 * cases, counts of authors and entities, totals, rank trees, entries of things, the queues of
 * names. Moves long texts of reviews to items of their own. Nothing else may write meanwhile.
 * Versions stay, so no consumer of the stream sees a change. Can be stopped anywhere and repeated.
 */
export async function upgradeTable(): Promise<void> {
  for await (const { items } of scanItems()) {
    const upgrades = items.map(upgradeOf);
    const single = upgrades.flatMap((writes) => (writes.length === 1 ? writes : []));
    for (const some of chunks(single, maxActions)) await transact(some);
    // A text moves in a transaction of its own.
    for (const writes of upgrades) if (writes.length > 1) await transact(writes);
  }
  await recountOwners();
  await rebuildAll();
}

/**
 * Recomputes totals, rank trees, entries of things, and the queues of names. Waits for another
 * rebuild, or for the lock of a killed one.
 */
export async function rebuildAll(onProgress?: Progress) {
  await untilUnlocked(console.error);
  const rebuilt = await rebuildTotals(onProgress, { inTransactions: storage() !== undefined });
  const names = await rebuildThings(onProgress);
  await rebuildQueues();
  return { ...rebuilt, names };
}

/** Returns the writes that an item needs, if it needs any: two for the text of a review. */
function upgradeOf(item: Item): Write[] {
  if (item.sk === reviewKey('').sk) return upgradeOfReview(item);
  if (item.sk === caseKey('').sk) return upgradeOfCase(item);
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

/** Code of 1.0 has all open cases in one partition of the queue. */
function upgradeOfCase(item: Item): Write[] {
  const { all } = queuedIn(v.parse(Case, item));
  return item.all === all ? [] : change(item, { all });
}

function obsoleteCounts(item: Item): Record<string, unknown> {
  if (item.sk !== userKey('').sk && item.sk !== entityKey('').sk) return {};
  const names = Object.keys(item).filter(isObsolete);
  return Object.fromEntries(names.map((name) => [name, undefined]));
}
