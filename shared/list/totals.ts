import { batchGet } from '../table/batch.ts';
import { type Item, keyString } from '../table/item.ts';
import { totalKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { add, transact } from '../table/transact.ts';
import { type Content, type Count, countsIn, datePath, nodeKey } from './rank-tree.ts';

/** Facets that this process knows to be in the totals. */
const announced = new Set<string>();

/**
 * Enters a facet (`<type>|<language>`) into the totals, with a count of 0, before its first review is published. A reader merges the
 * facets that it finds there, so that it misses none while the stream has yet to be followed.
 */
export async function announceFacet(facet: string): Promise<void> {
  if (announced.has(facet)) return;
  const [type = '', language = ''] = facet.split('|');
  const key = totalKey(type);
  const item = (await getItem(key, { consistent: false })) ?? {};
  const isThere = Object.keys(item).some((name) => name.startsWith(`${language}|`));
  if (!isThere) await transact([{ Update: add(key, { [`${language}|both`]: 0 }) }]);
  announced.add(facet);
}

/**
 * All public reviews, by `<type>|<language>|<content>`. One item holds the totals of a type, so that they are a page of one Query. They
 * follow the table by a moment, because they are derived from its stream.
 */
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

/** How many entries of each content a list with a rank tree has: the sums of its root. */
export async function readLengths(list: string): Promise<Map<Content, number>> {
  const root = await getItem(nodeKey(list, 'date', []), { consistent: false });
  const lengths = new Map<Content, number>();
  for (const { content, count } of countsIn('date', [], root)) {
    lengths.set(content, (lengths.get(content) ?? 0) + count);
  }
  return lengths;
}

/** How many entries a list with a rank tree has. */
export async function readLength(list: string): Promise<number> {
  return [...(await readLengths(list)).values()].reduce((total, count) => total + count, 0);
}

/**
 * How many entries of a list with a rank tree stand at or after each of these times: epoch ms, starts of UTC days, which are starts of
 * slots as well. One round trip.
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

/** How many entries there are in all. */
export function sum(counts: readonly Count[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
