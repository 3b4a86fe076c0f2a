import { GetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { table, tableName } from './client.ts';
import { type IndexName, type Order, sortKeyOf } from './definition.ts';
import type { Entry, Item, Key, SortKey } from './item.ts';
import { checkKey, checkQuery } from './rules.ts';
import {
  type KeyRange,
  type Page,
  type Position,
  type Query,
  type ReadOptions,
  storage,
} from './storage.ts';

/** Order of a list. */
export interface Sorting {
  order: Order;
  descending: boolean;
}

/** Is told how many items a scan has read. */
export type Progress = (items: number) => void;

/** Most entries to request: a page of a Query (1 MB) holds about as many. */
const pageLimit = 4000;

/** Reads an item, or some `attributes` of it. Not `consistent`, it costs half the units. */
export async function getItem(
  { pk, sk }: Key,
  { consistent = true, attributes }: ReadOptions = {},
): Promise<Item | undefined> {
  checkKey({ pk, sk });
  const own = storage();
  if (own) return (await own.get([{ pk, sk }], { consistent, attributes }))[0];
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
  }: ReadOptions & {
    pageSize?: number;
    descending?: boolean;
    after?: string | undefined;
    until?: string;
  } = {},
): AsyncGenerator<Item[]> {
  const { low, high } = rangeOf(prefix.sk);
  const pages = pagesOf({
    partition: prefix.pk,
    range: { low: after ?? low, high: until ?? high },
    attributes: attributes && ['pk', 'sk', ...attributes],
    consistent,
    descending,
    limit: pageSize,
  });
  for await (const items of pages) {
    // The range includes `after`.
    yield items.filter(({ sk }) => sk !== after);
  }
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
    range = {},
    pageSize = 250,
  }: { descending?: boolean; range?: KeyRange; pageSize?: number } = {},
): AsyncGenerator<Entry[]> {
  const limit = Math.min(pageLimit, pageSize);
  const pages = pagesOf({ index, partition, range, descending, limit });
  for await (const items of pages) yield items as Entry[];
}

/**
 * Reads the table page by page, strongly consistent. With `sk`, only items with this sort key, for
 * the same units. A scan continues `from` a `position`.
 */
export async function* scanItems({
  from,
  pageSize = pageLimit,
  sk,
  onProgress,
}: {
  from?: Key | undefined;
  pageSize?: number;
  sk?: string;
  onProgress?: Progress | undefined;
} = {}): AsyncGenerator<{ items: Item[]; position: Key | undefined }> {
  let after = from;
  let read = 0;
  do {
    const { items, next } = await (storage()?.scan(after, pageSize) ?? sendScan(after, pageSize));
    after = next;
    yield { items: items.filter((item) => sk === undefined || item.sk === sk), position: after };
    read += items.length;
    onProgress?.(read);
  } while (after !== undefined);
}

async function sendScan(after: Key | undefined, limit: number): Promise<Page> {
  const command = new ScanCommand({
    TableName: tableName(),
    ConsistentRead: true,
    ExclusiveStartKey: after,
    Limit: limit,
  });
  const { Items = [], LastEvaluatedKey } = await table.send(command);
  return { items: Items as Item[], next: LastEvaluatedKey as Position | undefined };
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
 * Sort keys that begin like `prefix`. Not begins_with, because a BETWEEN can begin or end within
 * them. Without a prefix there is no bound: DynamoDB refuses an empty one.
 */
function rangeOf(prefix: string): KeyRange {
  return prefix === '' ? {} : { low: prefix, high: `${prefix}\u{10FFFF}` };
}

/** DynamoDB takes one condition on a sort key, so two bounds must be a BETWEEN. */
function keyCondition(
  [partitionName, partition]: [name: string, value: string],
  [sortName, { low, high }]: [name: string, range: KeyRange],
) {
  const names: Record<string, string> = { '#partition': partitionName };
  const values: Record<string, SortKey> = { ':partition': partition };
  const conditions = ['#partition = :partition'];
  if (low !== undefined) values[':low'] = low;
  if (high !== undefined) values[':high'] = high;
  if (low !== undefined || high !== undefined) names['#sort'] = sortName;
  if (low !== undefined && high !== undefined) conditions.push('#sort BETWEEN :low AND :high');
  else if (low !== undefined) conditions.push('#sort >= :low');
  else if (high !== undefined) conditions.push('#sort <= :high');
  return {
    KeyConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

async function* pagesOf(query: Query): AsyncGenerator<Item[]> {
  checkQuery(query);
  let after: Position | undefined;
  do {
    const page = { ...query, after };
    const { items, next } = await (storage()?.query(page) ?? sendQuery(page));
    yield items;
    after = next;
  } while (after !== undefined);
}

async function sendQuery({ index, partition, range, after, ...query }: Query): Promise<Page> {
  const [scope = '', order] = (index?.split('-by-') ?? []) as [string?, Order?];
  const partitionName = index === undefined ? 'pk' : scope;
  const sortName = order === undefined ? 'sk' : sortKeyOf(order);
  const { ExpressionAttributeNames, ...condition } = keyCondition(
    [partitionName, partition],
    [sortName, range],
  );
  const projection = query.attributes && projectionOf(query.attributes);
  const command = new QueryCommand({
    TableName: tableName(),
    IndexName: index,
    ...condition,
    ...projection,
    ExpressionAttributeNames: {
      ...ExpressionAttributeNames,
      ...projection?.ExpressionAttributeNames,
    },
    ConsistentRead: query.consistent,
    ScanIndexForward: !query.descending,
    Limit: query.limit,
    ExclusiveStartKey: after,
  });
  const { Items = [], LastEvaluatedKey } = await table.send(command);
  return { items: Items as Item[], next: LastEvaluatedKey as Position | undefined };
}

/** Uses placeholders for all names, because DynamoDB reserves some. */
export function projectionOf(attributes: readonly string[]) {
  return {
    ProjectionExpression: attributes.map((_, i) => `#${i}`).join(),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, i) => [`#${i}`, name])),
  };
}
