import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { totalKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import type { Tree } from './descend.ts';
import { type Count, datePath, nodeCounts, nodeKey } from './rank-tree.ts';

// Numbers of reviews and users, read from totals and from the roots of rank trees.

/**
 * Reads the totals of all reviews, an item for each type, or some `attributes` of them. They lag by
 * a moment.
 */
export async function readTotals(attributes?: readonly string[]): Promise<Map<string, Item>> {
  const prefix = totalKey('');
  const totals = new Map<string, Item>();
  for await (const items of queryItems(prefix, { consistent: false, attributes })) {
    for (const item of items) totals.set(item.sk.slice(prefix.sk.length), item);
  }
  return totals;
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
  roots: ReadonlyMap<string, Item | undefined>,
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
