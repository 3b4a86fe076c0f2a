import type { Order } from '../table/definition.ts';
import type { Key } from '../table/item.ts';

// Keys of totals and rank trees.

/** Returns the key of the totals of a type, or the prefix of all totals for an empty one. */
export const totalKey = (type: string): Key => ({ pk: 'TOTALS', sk: `TOTAL#${type}` });

/** Returns true for the key of the totals of a type, which are not the only items beside them. */
export const isTotalKey = ({ pk, sk }: Key) =>
  pk === totalKey('').pk && sk.startsWith(totalKey('').sk);

/** Returns the type that a key of totals counts. */
export const typeOfTotal = ({ sk }: Pick<Key, 'sk'>) => sk.slice(totalKey('').sk.length);

/** Key of the copy of all totals without languages. Lists read one item instead of each total. */
export const sumsKey = { pk: 'TOTALS', sk: 'SUMS' };

/**
 * Returns the key of a node. `path` holds the child numbers from the root of the list's tree. Every
 * node has a partition key of its own, so DynamoDB spreads the writes of a tree from the start.
 */
export const rankTreeKey = (list: string, order: Order | 'root', path: readonly number[]) => ({
  pk: `TREE#${[list, ...path].join('#')}`,
  sk: order,
});
