import { randomUUID } from 'node:crypto';
import { isUpper } from '../list/rank-tree.ts';
import { type Amounts, addAll, changesOf, gain } from '../table/amounts.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { deferredKey } from '../table/keys.ts';
import { queryItems } from '../table/query.ts';
import { maxActions, retryStale, transact, type Write } from '../table/transact.ts';
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
  const amounts: Amounts = new Map();
  for (const item of items as Item[]) {
    const counts = item.counts as Deferred[];
    const names = new Set([...amounts.keys(), ...counts.map(keyString)]);
    if (1 + taken.length + 1 + names.size > maxActions) break;
    taken.push(item);
    for (const { pk, sk, by } of counts) {
      for (const [name, amount] of Object.entries(by)) gain(amounts, { pk, sk }, name, amount);
    }
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
