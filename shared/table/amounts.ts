import { type Key, keyString } from './item.ts';
import type { Write } from './transact.ts';

/** Amounts to add to attributes of items, by the `keyString` of the item. */
export type Amounts = Map<string, { key: Key; by: Record<string, number> }>;

export function gain(amounts: Amounts, key: Key, attribute: string, amount: number): void {
  const name = keyString(key);
  const item = amounts.get(name) ?? { key, by: {} };
  item.by[attribute] = (item.by[attribute] ?? 0) + amount;
  amounts.set(name, item);
}

/** Returns the items that change, without amounts of 0. */
export function changesOf(amounts: Amounts) {
  return [...amounts.values()].flatMap(({ key, by }) => {
    const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
    return changed.length > 0 ? [{ key, by: Object.fromEntries(changed) }] : [];
  });
}

export function addAll(amounts: Amounts): Write[] {
  return changesOf(amounts).map(({ key, by }) => ({ Update: { Key: key, amounts: by } }));
}
