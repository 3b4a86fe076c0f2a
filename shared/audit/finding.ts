import type { Item, Key } from '../table/item.ts';
import type { Condition, Write } from '../table/transact.ts';

/**
 * An attribute that differs from its recount. The attribute is `item` if the whole item is missing
 * or should not exist.
 */
export interface Difference {
  pk: string;
  sk: string;
  attribute: string;
  stored: unknown;
  counted: unknown;
  isRepairable: boolean;
}

/**
 * Differences of one item, and the writes that repair them, if a repair is possible. The writes are
 * conditional on nothing having changed.
 */
export interface Finding {
  differences: Difference[];
  /**
   * Version that rises with every change of the counted data. Absent if the differences need none.
   */
  version?: unknown;
  repair?: (differences: readonly Difference[]) => Write[];
}

/**
 * Returns the finding for an item without its review. The repair deletes the item if it still is as
 * it `was` and the `checks` of other items hold.
 */
export function orphan({ pk, sk }: Key, was: Condition['was'], checks: Write[] = []): Finding {
  const stored = sk.replace(/#.*/s, '').toLowerCase();
  return {
    differences: [{ pk, sk, attribute: 'item', stored, counted: 'none', isRepairable: true }],
    repair: () => [{ Delete: { Key: { pk, sk }, was } }, ...checks],
  };
}

/** Returns a finding that the rest of the table cannot repair. */
export function beyondRepair(
  difference: Omit<Difference, 'isRepairable'>,
  version: unknown,
): Finding {
  return { differences: [{ ...difference, isRepairable: false }], version };
}

/** Finds the attributes of an item that differ from the expected values. */
export function compare(item: Item, expected: Readonly<Record<string, unknown>>): Difference[] {
  const { pk, sk } = item;
  return Object.entries(expected).flatMap(([attribute, counted]) => {
    const stored = item[attribute];
    // A rank may be a number or a bigint.
    return `${stored}` === `${counted}`
      ? []
      : [{ pk, sk, attribute, stored, counted, isRepairable: true }];
  });
}

/** Sets attributes to the counted values, if all of them still have the stored values. */
export function set({ pk, sk }: Key, differences: readonly Difference[]): Write {
  const counted = Object.fromEntries(differences.map((each) => [each.attribute, each.counted]));
  const stored = Object.fromEntries(differences.map((each) => [each.attribute, each.stored]));
  return { Update: { Key: { pk, sk }, set: counted, was: stored } };
}

/**
 * Does the same as `set` for a review, case, author or entity. Also requires an unchanged version,
 * which every count raises.
 */
export function setVersioned(item: Item, differences: readonly Difference[]): Write {
  const counted = { version: Number(item.version ?? 0) + 1 };
  return set(item, [...differences, ...compare(item, counted)]);
}

/** Returns the condition that a review has not changed since it was read. */
export function unchanged({ pk, sk, version }: Item): Write {
  return { ConditionCheck: { Key: { pk, sk }, was: { version } } };
}
