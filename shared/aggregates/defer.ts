import { randomUUID } from 'node:crypto';
import { isUpper } from '../list/rank-tree.ts';
import { type Item, keyString } from '../table/batch.ts';
import { deferredKey, type Key } from '../table/keys.ts';
import { queryItems } from '../table/query.ts';
import { add, maxActions, retryStale, transact, type Write } from '../table/transact.ts';
import type { Amounts } from './contribution.ts';
import { noRebuild } from './lock.ts';

/**
 * Totals and the upper levels of rank trees are what all changes have in common. Of a busy stream they are not written with each
 * transaction: each leaves what it adds to them as an item, and once a batch all such items are added up. So transactions of several
 * shards of the stream do not wait for each other, and the upper nodes are written once for hundreds of changes.
 */
const isDeferrable = ({ pk, sk }: Key) => pk === 'TOTALS' || isUpper({ pk, sk });

/** So many keys in one such item, about 4 KB, and a transaction that adds some of them up has room for all keys. */
export const maxDeferred = 60;

/** Parts amounts into those that a transaction adds itself and those that it leaves for later. */
export function partDeferrable(amounts: Amounts): { now: Amounts; later: Amounts } {
  const entries = [...amounts];
  return {
    now: new Map(entries.filter(([, { key }]) => !isDeferrable(key))),
    later: new Map(entries.filter(([, { key }]) => isDeferrable(key))),
  };
}

/** Leaves amounts for later. */
export function defer(amounts: Amounts): Write[] {
  const counts = changesOf(amounts).map(({ key: { pk, sk }, by }) => ({ pk, sk, by }));
  return counts.length > 0 ? [{ Put: { Item: { ...deferredKey(randomUUID()), counts } } }] : [];
}

/** Adds amounts to their items. */
export function addAll(amounts: Amounts): Write[] {
  return changesOf(amounts).map(({ key, by }) => ({ Update: add(key, by) }));
}

/**
 * Adds all that was left for later, by whomever, each once. Throws ApiError 503 while totals are being rebuilt, which makes all of it
 * void.
 */
export async function addDeferred(): Promise<void> {
  while (await retryStale(addSome));
}

/** Adds up as many as fit a transaction; false when there are none. */
async function addSome(): Promise<boolean> {
  const { value: items = [] } = await queryItems(deferredKey(), { pageSize: 50 }).next();
  const taken: Item[] = [];
  let amounts: Amounts = new Map();
  for (const item of items as Item[]) {
    const more = sum(amounts, item.counts as Deferred[]);
    if (1 + taken.length + 1 + more.size > maxActions) break;
    taken.push(item);
    amounts = more;
  }
  if (taken.length === 0) return false;
  await transact([
    noRebuild(),
    ...taken.map(({ pk, sk }) => ({
      Delete: { Key: { pk, sk }, ConditionExpression: 'attribute_exists(pk)' },
    })),
    ...addAll(amounts),
  ]);
  return true;
}

type Deferred = Key & { by: Record<string, number> };

function sum(amounts: Amounts, counts: readonly Deferred[]): Amounts {
  const sums: Amounts = new Map(amounts);
  for (const { pk, sk, by } of counts) {
    const key = { pk, sk };
    const known = { ...sums.get(keyString(key))?.by };
    for (const [name, amount] of Object.entries(by)) known[name] = (known[name] ?? 0) + amount;
    sums.set(keyString(key), { key, by: known });
  }
  return sums;
}

/** The items to which anything is added, and what. */
function changesOf(amounts: Amounts) {
  return [...amounts.values()].flatMap(({ key, by }) => {
    const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
    return changed.length > 0 ? [{ key, by: Object.fromEntries(changed) }] : [];
  });
}
