import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { type FacetCounts, type FacetFilter, kinds } from '../review/counts.ts';
import { TableName, table } from '../table/client.ts';
import { between, calendarKey, totalKey } from '../table/keys.ts';
import { forEachCount } from './calendar.ts';

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

/** How many accounts there are. */
export async function readUsersTotal(): Promise<number> {
  const { u = 0 } = await readLengths('users');
  return u;
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

/** One item holds the totals of a type, so that those of all types are a page of one Query. */
async function readFacetTotals(): Promise<FacetCounts> {
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
