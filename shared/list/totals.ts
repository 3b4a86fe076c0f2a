import { batchGet } from '../table/batch.ts';
import { type Item, keyString } from '../table/item.ts';
import { totalKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { type Content, type Count, countsIn, datePath, nodeKey } from './rank-tree.ts';

// Numbers of reviews and users, read from totals and from the roots of rank trees.

/** Reads the numbers of public reviews by `<type>|<language>|<content>`. They lag by a moment. */
export async function readFacetTotals(): Promise<Map<string, number>> {
  const prefix = totalKey();
  const counts = new Map<string, number>();
  for await (const items of queryItems(prefix, { consistent: false })) {
    for (const { pk: _, sk, ...numbers } of items) {
      const type = sk.slice(prefix.sk.length);
      for (const [name, count] of Object.entries(numbers)) {
        counts.set(`${type}|${name}`, Number(count));
      }
    }
  }
  return counts;
}

/** Reads the number of entries of each content in a list with a rank tree. */
export async function readLengths(list: string): Promise<Map<Content, number>> {
  const root = await getItem(nodeKey(list, 'date', []), { consistent: false });
  const byContent = Map.groupBy(countsIn('date', [], root), ({ content }) => content);
  return new Map([...byContent].map(([content, counts]) => [content, sum(counts)]));
}

/** Returns the length of a list with a rank tree. */
export async function readLength(list: string): Promise<number> {
  return [...(await readLengths(list)).values()].reduce((total, count) => total + count, 0);
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
    sum(countsIn('date', [], item).filter(({ child }) => child >= first));
  return paths.map(
    ([block, slot]) =>
      from(nodes.get(keyString(root)), block + 1) +
      from(nodes.get(keyString(blocks.get(block) ?? root)), slot),
  );
}

function sum(counts: readonly Count[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
