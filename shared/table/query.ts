import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { GetCommand, paginateQuery, paginateScan } from '@aws-sdk/lib-dynamodb';
import { table, tableName } from './client.ts';
import { type IndexName, type Order, sortKeyOf } from './definition.ts';
import type { Entry, Item, Key, SortKey } from './item.ts';

/** Order of a list. */
export interface Sorting {
  order: Order;
  descending: boolean;
}

/** Sort keys from `low` to `high`, both included. Open where one is absent. */
export interface KeyRange {
  low?: SortKey;
  high?: SortKey;
}

/** Most entries to request: a page of a Query (1 MB) holds about as many. */
const pageLimit = 4000;

/** Reads an item, or some `attributes` of it. Not `consistent`, it costs half the units. */
export async function getItem(
  { pk, sk }: Key,
  { consistent = true, attributes }: { consistent?: boolean; attributes?: readonly string[] } = {},
): Promise<Item | undefined> {
  const command = new GetCommand({
    TableName: tableName(),
    Key: { pk, sk },
    ConsistentRead: consistent,
    ...(attributes && projectionOf(attributes)),
  });
  const { Item } = await table.send(command);
  return Item as Item | undefined;
}

/**
 * Reads the items of a partition whose sort keys begin like `prefix`, page by page: after `after`,
 * up to `until`. A read that is not `consistent` costs half the units. With `attributes`, an item
 * has only these and its keys, for the same units.
 */
export async function* queryItems(
  prefix: Key,
  {
    pageSize = 250,
    descending = false,
    consistent = true,
    after,
    until,
    attributes,
  }: {
    pageSize?: number;
    descending?: boolean;
    consistent?: boolean;
    after?: string;
    until?: string;
    attributes?: readonly string[];
  } = {},
): AsyncGenerator<Item[]> {
  const pages = pagesOf({
    ...keyCondition(prefix, { from: after, to: until }),
    ...(attributes && projectionOf(['pk', 'sk', ...attributes])),
    ConsistentRead: consistent,
    ScanIndexForward: !descending,
    Limit: pageSize,
  });
  for await (const { Items = [] } of pages) {
    // The condition includes `after`.
    yield (Items as Item[]).filter(({ sk }) => sk !== after);
  }
}

/** Counts the items that `queryItems` reads and the filter passes, for the same units. */
export async function countItems(
  prefix: Key,
  filter: Pick<QueryCommandInput, 'FilterExpression'> = {},
): Promise<number> {
  const pages = pagesOf({
    ...keyCondition(prefix),
    ...filter,
    ConsistentRead: true,
    Limit: pageLimit,
    Select: 'COUNT',
  });
  let count = 0;
  for await (const { Count = 0 } of pages) count += Count;
  return count;
}

/**
 * Reads the entries of an index partition in order, page by page; eventually consistent. Write the
 * name of the index as a literal: the rights of each Lambda are derived from its code.
 * @example
 *   const pages = queryIndex('entity-by-date', entityId, { descending: true, pageSize: 50 });
 *   const newest = await collect(pages, 50);
 */
export async function* queryIndex(
  index: IndexName,
  partition: string,
  {
    descending = false,
    range: { low, high } = {},
    pageSize = 250,
  }: { descending?: boolean; range?: KeyRange; pageSize?: number } = {},
): AsyncGenerator<Entry[]> {
  const [scope = '', order] = index.split('-by-') as [string, Order];
  const names: Record<string, string> = { '#scope': scope };
  const conditions = ['#scope = :partition'];
  if (low !== undefined || high !== undefined) {
    names['#sort'] = sortKeyOf(order);
    conditions.push(rangeCondition({ low, high }));
  }
  const pages = pagesOf({
    IndexName: index,
    KeyConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: { ':partition': partition, ':low': low, ':high': high },
    ScanIndexForward: !descending,
    Limit: Math.min(pageLimit, pageSize),
  });
  for await (const { Items = [] } of pages) yield Items as Entry[];
}

/** DynamoDB takes one condition on a sort key, so two bounds must be a BETWEEN. */
function rangeCondition({ low, high }: KeyRange): string {
  if (low === undefined) return '#sort <= :high';
  return high === undefined ? '#sort >= :low' : '#sort BETWEEN :low AND :high';
}

/** Reads the table page by page, strongly consistent. A scan continues `from` a `position`. */
export async function* scanItems({
  from,
  pageSize = pageLimit,
  ...filter
}: { from?: Key; pageSize?: number } & Omit<ScanCommandInput, 'TableName'> = {}): AsyncGenerator<{
  items: Item[];
  position: Key | undefined;
}> {
  const pages = paginateScan(
    { client: table, startingToken: from },
    { TableName: tableName(), ConsistentRead: true, Limit: pageSize, ...filter },
  );
  for await (const { Items = [], LastEvaluatedKey } of pages) {
    yield { items: Items as Item[], position: LastEvaluatedKey as Key | undefined };
  }
}

/** Collects the contents of pages, up to `most` of them. */
export async function collect<T>(
  pages: AsyncIterable<T[]>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) {
    all.push(...page);
    if (all.length >= most) break;
  }
  return all.slice(0, most);
}

/** Yields the contents of pages one by one. */
export async function* eachOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page;
}

/** Returns the sort key of an entry: a string by date, a bigint by popularity. */
export function sortKeyIn(entry: Entry, order: Order): SortKey {
  const value = entry[sortKeyOf(order)] ?? '';
  // The SDK reads a rank within 2^53 as a number: that of an import from the start of 1970.
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Returns a comparison of entries by their sort keys. */
export function byPlace({ order, descending }: Sorting): (a: Entry, b: Entry) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const keyOfA = sortKeyIn(a, order);
    const keyOfB = sortKeyIn(b, order);
    if (keyOfA === keyOfB) return 0;
    return keyOfA < keyOfB ? -sign : sign;
  };
}

/**
 * Selects sort keys that begin like `prefix`, or lie between `from` and `to`, both included. Avoids
 * begins_with, in which the embedded engine ignores case.
 */
function keyCondition({ pk, sk }: Key, { from = sk, to = `${sk}\u{10FFFF}` } = {}) {
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
  };
}

function pagesOf(query: Omit<QueryCommandInput, 'TableName'>) {
  return paginateQuery({ client: table }, { TableName: tableName(), ...query });
}

/** Uses placeholders for all names, because DynamoDB reserves some. */
export function projectionOf(attributes: readonly string[]) {
  return {
    ProjectionExpression: attributes.map((_, i) => `#${i}`).join(),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, i) => [`#${i}`, name])),
  };
}
