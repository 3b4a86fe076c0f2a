import { batchGet } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import type { Tree } from './descend.ts';
import { sumsKey, totalKey, typeOfTotal } from './keys.ts';
import { type Nodes, readNodes } from './nodes.ts';
import { type Content, datePath, type Node, nodeKey, visitCounters } from './rank-tree.ts';

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
 * Reads the totals without languages, from the one item that has a copy of them, and nodes of rank
 * trees by the same command. Both lag by a moment. `sums` is undefined in a table of older code,
 * until something is counted.
 */
export async function readSums(
  keys: readonly Key[] = [],
): Promise<{ sums: Counts | undefined; nodes: Nodes }> {
  const nodes = await readNodes([sumsKey, ...keys]);
  return { sums: countsInSums(nodes.get(keyString(sumsKey))), nodes };
}

/** Returns the counts in the item of the sums. They are one text, which is cheaper to read. */
export function countsInSums(
  item: Readonly<Record<string, unknown>> | undefined,
): Counts | undefined {
  return item && JSON.parse(`${item.counts}`);
}

/** Returns the key of the root of a list's rank trees. */
export const rootKey = (list: string): Key => nodeKey(list, 'date', []);

/** Returns the length of a list with a rank tree. */
export async function readLength(list: string): Promise<number> {
  const root = await getItem(rootKey(list), { consistent: false });
  return sumOf(root, () => true);
}

/** Counts the matching entries of lists, from the roots of their trees. */
export function countInRoots(
  roots: Nodes,
  trees: readonly Pick<Tree, 'list' | 'contents'>[],
): number {
  return trees.reduce((total, { list, contents }) => {
    const root = roots.get(keyString(rootKey(list)));
    return total + sumOf(root, (_, content) => contents.has(content));
  }, 0);
}

/**
 * Reads the number of entries since each time (epoch ms, starts of UTC days) in a list with a rank
 * tree. One round trip.
 */
export async function readCountsSince(list: string, times: readonly number[]): Promise<number[]> {
  const paths = times.map(datePath);
  const root = rootKey(list);
  const blocks = new Map(paths.map(([block]) => [block, nodeKey(list, 'date', [block])]));
  const nodes = await batchGet([root, ...blocks.values()]);
  const from = (item: Item | undefined, first: number) => sumOf(item, (child) => child >= first);
  return paths.map(
    ([block, slot]) =>
      from(nodes.get(keyString(root)), block + 1) +
      from(nodes.get(keyString(blocks.get(block) ?? root)), slot),
  );
}

/** Adds up the counters of a node by date for which `isCounted`. */
function sumOf(item: Node, isCounted: (child: number, content: Content) => boolean): number {
  let sum = 0;
  visitCounters('date', [], item, (child, content, count) => {
    if (isCounted(child, content)) sum += count;
  });
  return sum;
}
