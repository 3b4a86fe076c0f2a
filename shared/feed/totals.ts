import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { type FacetCounts, type FacetFilter, kinds } from '../review/counts.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { between, calendarKey, totalKey } from '../table/keys.ts';
import { add, transact } from '../table/transact.ts';
import { countIn, forEachCount, slotPath } from './calendar.ts';

/**
 * Counts of all public reviews that a filter may need. Without a type or language in the filter they are under one facet that
 * stands for all, the empty one. They follow the table by a moment, because they are derived from its stream.
 */
export async function readTotals({ entity_type, language }: FacetFilter): Promise<FacetCounts> {
  if (entity_type === undefined && language === undefined) {
    const lengths = await readLengths('all');
    return new Map(kinds.map((kind) => [`|${kind}`, lengths[kind.charAt(0)] ?? 0]));
  }
  return readFacetTotals();
}

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
  const { Item = {} } = await table.send(new GetCommand({ TableName, Key: key }));
  const isThere = Object.keys(Item).some((name) => name.startsWith(`${language}|`));
  if (!isThere) await transact([{ Update: add(key, { [`${language}|both`]: 0 }) }]);
  announced.add(facet);
}

/** How many accounts there are. */
export async function readUsersTotal(): Promise<number> {
  const { u = 0 } = await readLengths('users');
  return u;
}

/**
 * How many entries of a list with a calendar stand at or after each of these times: epoch ms, starts of UTC days, which are starts of
 * slots as well. One round trip.
 */
export async function readCountsSince(list: string, times: readonly number[]): Promise<number[]> {
  const paths = times.map((time) => slotPath(time));
  const root = calendarKey(list, 'date', []);
  const blocks = new Map(paths.map(([block]) => [block, calendarKey(list, 'date', [block])]));
  const nodes = await batchGet([root, ...blocks.values()]);
  return paths.map(([block, slot]) => {
    const key = blocks.get(block) ?? root;
    return (
      countIn(nodes.get(keyString(root)), (child) => child > block) +
      countIn(nodes.get(keyString(key)), (child) => child >= slot)
    );
  });
}

/** How many entries of each kind a list with a calendar has: the sums of its root. */
async function readLengths(list: string): Promise<Record<string, number>> {
  const Key = calendarKey(list, 'date', []);
  const { Item } = await table.send(new GetCommand({ TableName, Key }));
  const lengths: Record<string, number> = {};
  forEachCount(Item, (_, kind, count) => {
    lengths[kind] = (lengths[kind] ?? 0) + count;
  });
  return lengths;
}

/** All totals. One item holds those of a type, so that they are a page of one Query. */
export async function readFacetTotals(): Promise<FacetCounts> {
  const { pk, sk } = totalKey();
  const counts = new Map<string, number>();
  const pages = paginateQuery(
    { client: table, pageSize: 100 },
    {
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ...between(sk) },
    },
  );
  for await (const { Items = [] } of pages) {
    for (const { pk: _, sk: of, ...numbers } of Items) {
      const prefix = String(of).slice(sk.length);
      for (const [name, count] of Object.entries(numbers)) {
        counts.set(`${prefix}|${name}`, Number(count));
      }
    }
  }
  return counts;
}
