import { type Key, keyString } from './item.ts';
import type { Write } from './transact.ts';

/** Amounts to add to attributes of items, by the `keyString` of the item. */
export type Amounts = Map<string, { key: Key; by: Record<string, number> }>;

/** Adds amounts to attributes of an item. */
export function gain(amounts: Amounts, key: Key, by: Readonly<Record<string, number>>): void {
  const item = amounts.get(keyString(key)) ?? { key, by: {} };
  amounts.set(keyString(key), item);
  for (const [name, amount] of Object.entries(by)) item.by[name] = (item.by[name] ?? 0) + amount;
}

/** Returns the items that change, without amounts of 0. */
export function changesOf(amounts: Amounts) {
  return [...amounts.values()].flatMap(({ key, by }) => {
    const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
    return changed.length > 0 ? [{ key, by: Object.fromEntries(changed) }] : [];
  });
}

/** Returns the updates that add the amounts. */
export function addAll(amounts: Amounts): Write[] {
  return changesOf(amounts).map(({ key, by }) => ({ Update: { Key: key, amounts: by } }));
}
