import { randomUUID } from 'node:crypto';
import { fittingChunks } from '../../base/chunks.ts';
import { isTotalKey, typeOfTotal } from '../../base/list/keys.ts';
import { isUpper } from '../../base/list/rank-tree.ts';
import { type Amounts, addAll, changesOf, fitUpdates, gain } from '../../base/table/amounts.ts';
import type { Item, Key } from '../../base/table/item.ts';
import { queryItems } from '../../base/table/query.ts';
import { maxActions, retryStale, transact, type Write } from '../../base/table/transact.ts';
import { deferredKey } from '../keys.ts';
import { unlessRebuilding } from './lock.ts';
import { copySums } from './sums.ts';

// Counts that a busy batch stores as items, and adds up at its end.

/**
 * All changes write to totals and the upper levels of rank trees. When the stream is busy, each
 * transaction stores its amounts for them as an item, and the end of the batch adds up all items.
 * Shards therefore do not wait for each other, and one write covers hundreds of changes.
 */
const isDeferrable = (key: Key) => key.pk === 'TOTALS' || isUpper(key);

/** Maximum of keys in one deferred item, about 4 KB: several items fit one transaction. */
export const maxDeferred = 60;

/** Splits amounts into those that a transaction adds itself and those to add later. */
export function splitDeferrable(amounts: Amounts): { now: Amounts; later: Amounts } {
  const entries = [...amounts];
  return {
    now: new Map(entries.filter(([, { key }]) => !isDeferrable(key))),
    later: new Map(entries.filter(([, { key }]) => isDeferrable(key))),
  };
}

/** Returns the write that stores amounts to be added later. A rebuild makes them void. */
export function defer(amounts: Amounts): Write[] {
  const counts = changesOf(amounts).map(({ key: { pk, sk }, by }) => ({ pk, sk, by }));
  return counts.length > 0 ? [{ Put: { Item: { ...deferredKey(randomUUID()), counts } } }] : [];
}

/** Adds all deferred amounts, from any process, each once. Throws ApiError 503 in a rebuild. */
export async function addDeferred(): Promise<void> {
  const types = new Set<string>();
  for (let added = await retryStale(addSome); added; added = await retryStale(addSome)) {
    for (const { key } of added.values()) if (isTotalKey(key)) types.add(typeOfTotal(key));
  }
  if (types.size > 0) await copySums(types);
}

/** Adds up as many deferred items as fit a transaction. Returns undefined if there are none. */
async function addSome(): Promise<Amounts | undefined> {
  const { value: items = [] } = await queryItems(deferredKey(''), { pageSize: 50 }).next();
  const fits = (some: readonly Item[]) => {
    const amounts = amountsIn(some);
    return 1 + some.length + amounts.size <= maxActions && fitUpdates(amounts);
  };
  const [taken] = fittingChunks(items as Item[], fits);
  if (!taken) return undefined;
  const amounts = amountsIn(taken);
  await transact([
    ...taken.map(({ pk, sk }) => ({ Delete: { Key: { pk, sk }, was: { pk } } })),
    ...unlessRebuilding(addAll(amounts)),
  ]);
  return amounts;
}

/** Sums the amounts of deferred items. */
function amountsIn(items: readonly Item[]): Amounts {
  const amounts: Amounts = new Map();
  for (const item of items) {
    const counts = item.counts as (Key & { by: Record<string, number> })[];
    for (const { pk, sk, by } of counts) gain(amounts, { pk, sk }, by);
  }
  return amounts;
}
