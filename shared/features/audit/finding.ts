// Differences between items and their recount, and the writes that repair them.

import type { Item, Key } from '../../base/table/item.ts';
import type { Write } from '../../base/table/transact.ts';
import type { Condition } from '../../base/table/write.ts';

/** An attribute that differs from its recount; `item` if a whole item is missing or excessive. */
export interface Difference {
  pk: string;
  sk: string;
  attribute: string;
  stored: unknown;
  counted: unknown;
  isRepairable: boolean;
}

/** Differences of one item, and writes that repair them on condition that nothing has changed. */
export interface Finding {
  differences: Difference[];
  /** Rises with every change of the counted data. Absent if the differences need none. */
  version?: unknown;
  /** Absent if the rest of the table cannot repair the item. */
  repair?: Write[];
  /** True if the stream may still bring what is missing. */
  isBehind?: boolean;
}

/** Finds an item without its review. The repair deletes it if `was` and the `checks` hold. */
export function orphan({ pk, sk }: Key, was: Condition['was'], checks: Write[] = []): Finding {
  const kind = sk.replace(/#.*/s, '').toLowerCase();
  return {
    differences: [{ pk, sk, attribute: 'item', stored: kind, counted: 'none', isRepairable: true }],
    repair: [{ Delete: { Key: { pk, sk }, was } }, ...checks],
  };
}

/** Finds the attributes of an item that differ from the expected values. */
export function compare(item: Item, expected: object, isRepairable = true): Difference[] {
  const { pk, sk } = item;
  return Object.entries(expected).flatMap(([attribute, counted]) => {
    const stored = item[attribute];
    // A rank may be a number or a bigint.
    const isSame = `${stored}` === `${counted}`;
    return isSame ? [] : [{ pk, sk, attribute, stored, counted, isRepairable }];
  });
}

/** Compares an item with its recount. Every count raises its version, which guards the repair. */
export function compareVersioned(item: Item, expected: object): Finding {
  const differences = compare(item, expected);
  const { version } = item;
  const raised = compare(item, {
    version: version === undefined ? Date.now() : Number(version) + 1,
  });
  return { differences, version, repair: [set(item, [...differences, ...raised])] };
}

/** Sets attributes to the counted values, if all of them still have the stored values. */
export function set({ pk, sk }: Key, differences: readonly Difference[]): Write {
  const counted = Object.fromEntries(differences.map((each) => [each.attribute, each.counted]));
  const stored = Object.fromEntries(differences.map((each) => [each.attribute, each.stored]));
  return { Update: { Key: { pk, sk }, set: counted, was: stored } };
}
