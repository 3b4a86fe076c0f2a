import type { Item, Key } from '../table/item.ts';
import type { Condition, Write } from '../table/transact.ts';

/** An attribute that is not what follows from the items it is derived from. `item` of what should not be there at all, or is missing. */
export interface Difference {
  pk: string;
  sk: string;
  attribute: string;
  stored: unknown;
  counted: unknown;
  isRepairable: boolean;
}

/**
 * Differences of one item, and the writes that repair them where that is possible, on condition
 * that nothing has changed since.
 */
export interface Finding {
  differences: Difference[];
  /** Rises with everything that the differences are counted from. Absent where none is needed. */
  version?: unknown;
  repair?: (differences: readonly Difference[]) => Write[];
}

/**
 * An item that has lost its review. The repair deletes it where it `was` so, and with `checks` of
 * other items.
 */
export function orphan({ pk, sk }: Key, was: Condition['was'], checks: Write[] = []): Finding {
  const stored = sk.replace(/#.*/s, '').toLowerCase();
  return {
    differences: [{ pk, sk, attribute: 'item', stored, counted: 'none', isRepairable: true }],
    repair: () => [{ Delete: { Key: { pk, sk }, was } }, ...checks],
  };
}

/** What tells of damage that the rest of the table does not say how to mend. */
export function beyondRepair(
  difference: Omit<Difference, 'isRepairable'>,
  version: unknown,
): Finding {
  return { differences: [{ ...difference, isRepairable: false }], version };
}

/** Where an item is not what is expected of it. */
export function compare(item: Item, expected: Readonly<Record<string, unknown>>): Difference[] {
  const { pk, sk } = item;
  return Object.entries(expected).flatMap(([attribute, counted]) => {
    const stored = item[attribute];
    // A rank may come as a number or as a bigint.
    return `${stored}` === `${counted}`
      ? []
      : [{ pk, sk, attribute, stored, counted, isRepairable: true }];
  });
}

/** Sets what was counted where everything compared is still as it was read. */
export function set({ pk, sk }: Key, differences: readonly Difference[]): Write {
  const counted = Object.fromEntries(differences.map((each) => [each.attribute, each.counted]));
  const stored = Object.fromEntries(differences.map((each) => [each.attribute, each.stored]));
  return { Update: { Key: { pk, sk }, set: counted, was: stored } };
}

/**
 * Does the same for a review, case, author or entity, unless anything was counted since it was
 * read: every count raises its version.
 */
export function setVersioned(item: Item, differences: readonly Difference[]): Write {
  const counted = { version: Number(item.version ?? 0) + 1 };
  return set(item, [...differences, ...compare(item, counted)]);
}

/** The condition that a review is still as it was read. */
export function unchanged({ pk, sk, version }: Item): Write {
  return { ConditionCheck: { Key: { pk, sk }, was: { version } } };
}
