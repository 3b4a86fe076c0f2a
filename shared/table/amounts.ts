import { type Key, keyString } from './item.ts';
import type { Write } from './transact.ts';

/** Amounts to add to attributes of items. The map key is the `keyString` of the item. */
export type Amounts = Map<string, { key: Key; by: Record<string, number> }>;

/** Increases the amount to add to one attribute of an item. */
export function gain(amounts: Amounts, key: Key, attribute: string, amount: number): void {
  const name = keyString(key);
  const item = amounts.get(name) ?? { key, by: {} };
  item.by[attribute] = (item.by[attribute] ?? 0) + amount;
  amounts.set(name, item);
}

/** Returns the items with an amount other than 0, with these amounts. */
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
