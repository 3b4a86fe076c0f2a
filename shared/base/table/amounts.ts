import { type Key, keyString } from './item.ts';
import type { Write } from './transact.ts';

// Sums of numbers to add to items, and the updates that add them.

/** Amounts to add to attributes of items, by the `keyString` of the item. */
export type Amounts = Map<string, { key: Key; by: Record<string, number> }>;

/**
 * Maximum of attributes to which one update adds. Their clauses take 3.5 KB of an expression, and
 * DynamoDB takes 4 KB.
 */
const maxAttributes = 250;

/** Adds amounts to attributes of an item. */
export function gain(amounts: Amounts, key: Key, by: Readonly<Record<string, number>>): void {
  const id = keyString(key);
  let item = amounts.get(id);
  if (!item) {
    item = { key, by: {} };
    amounts.set(id, item);
  }
  for (const [name, amount] of Object.entries(by)) item.by[name] = (item.by[name] ?? 0) + amount;
}

/** Returns the items that change, without amounts of 0. */
export function changesOf(amounts: Amounts) {
  return [...amounts.values()].flatMap(({ key, by }) => {
    const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
    return changed.length > 0 ? [{ key, by: Object.fromEntries(changed) }] : [];
  });
}

/** Is true if one update can add the amounts of an item, for each of the items. */
export function fitUpdates(amounts: Amounts): boolean {
  return changesOf(amounts).every(({ by }) => Object.keys(by).length <= maxAttributes);
}

/** Returns the updates that add the amounts. */
export function addAll(amounts: Amounts): Write[] {
  return changesOf(amounts).map(({ key, by }) => ({ Update: { Key: key, amounts: by } }));
}
