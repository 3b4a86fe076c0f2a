import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { sumsKey, totalKey, typeOfTotal } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import type { Tree } from './descend.ts';
import type { Nodes } from './nodes.ts';
import { type Count, datePath, nodeCounts, nodeKey } from './rank-tree.ts';

// Numbers of reviews and users, read from totals and from the roots of rank trees.

/** Numbers of reviews by type, and by the letter of their content. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * Reads the totals of all reviews, an item for each type, or those of some `types`. With
 * `attributes`, the items have only these. They lag by a moment.
 */
export async function readTotals({
  types,
  attributes,
  consistent = false,
}: {
  types?: Iterable<string>;
  attributes?: readonly string[];
  consistent?: boolean;
} = {}): Promise<Map<string, Item>> {
  const options = { consistent, attributes };
  const items = types
    ? (
        await batchGet(
          [...types].map((type) => totalKey(type)),
          options,
        )
      ).values()
    : await collect(queryItems(totalKey(''), options));
  return new Map([...items].map((item) => [typeOfTotal(item), item]));
}

/**
 * Reads the totals without languages, from the one item that has a copy of them. They lag by a
 * moment. Returns undefined in a table of older code, until something is counted.
 */
export async function readSums(): Promise<Counts | undefined> {
  return countsInSums(await getItem(sumsKey, { consistent: false }));
}

/** Returns the counts in the item of the sums. They are one text, which is cheaper to read. */
export function countsInSums(item: Item | undefined): Counts | undefined {
  return item && JSON.parse(`${item.counts}`);
}

/** Returns the length of a list with a rank tree. */
export async function readLength(list: string): Promise<number> {
  const root = await getItem(nodeKey(list, 'date', []), { consistent: false });
  return sum(nodeCounts('date', [], root));
}

/** Returns the key of the root of a list's rank trees. */
export const rootKey = (list: string): Key => nodeKey(list, 'date', []);

/** Counts the matching entries of lists, from the roots of their trees. */
export function countInRoots(
  roots: Nodes,
  trees: readonly Pick<Tree, 'list' | 'contents'>[],
): number {
  const counts = trees.flatMap(({ list, contents }) => {
    const root = roots.get(keyString(nodeKey(list, 'date', [])));
    return nodeCounts('date', [], root).filter(({ content }) => contents.has(content));
  });
  return sum(counts);
}

/**
 * Reads the number of entries since each time (epoch ms, starts of UTC days) in a list with a rank
 * tree. One round trip.
 */
export async function readCountsSince(list: string, times: readonly number[]): Promise<number[]> {
  const paths = times.map(datePath);
  const root = nodeKey(list, 'date', []);
  const blocks = new Map(paths.map(([block]) => [block, nodeKey(list, 'date', [block])]));
  const nodes = await batchGet([root, ...blocks.values()]);
  const from = (item: Item | undefined, first: number) =>
    sum(nodeCounts('date', [], item).filter(({ child }) => child >= first));
  return paths.map(
    ([block, slot]) =>
      from(nodes.get(keyString(root)), block + 1) +
      from(nodes.get(keyString(blocks.get(block) ?? root)), slot),
  );
}

function sum(counts: readonly Count[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
