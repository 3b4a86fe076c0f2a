import {
  GetCommand,
  paginateQuery,
  paginateScan,
  type QueryCommandInput,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { table, tableName } from './client.ts';
import { type IndexName, type Order, sortKeyOf } from './definition.ts';
import type { Entry, Item, Key, SortKey } from './item.ts';

/** The order of a list. */
export interface Sorting {
  order: Order;
  descending: boolean;
}

/** Sort keys from the first to the last, both included; open where one is absent. */
export interface KeyRange {
  low?: SortKey;
  high?: SortKey;
}

/** One page of a Query holds about this many entries (1 MB); to ask for more at once is of no use. */
const pageLimit = 4000;

/** An item, strongly consistent unless half the units will do. */
export async function getItem(
  { pk, sk }: Key,
  { consistent = true } = {},
): Promise<Item | undefined> {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: { pk, sk }, ConsistentRead: consistent }),
  );
  return Item as Item | undefined;
}

/**
 * The items of a partition whose sort keys begin as that of `prefix` does, page by page, all or those behind the sort key `after` and up to
 * `until`; consistent unless half the units will do.
 */
export async function* queryItems(
  prefix: Key,
  {
    pageSize = 250,
    descending = false,
    consistent = true,
    after,
    until,
  }: {
    pageSize?: number;
    descending?: boolean;
    consistent?: boolean;
    after?: string;
    until?: string;
  } = {},
): AsyncGenerator<Item[]> {
  const query = {
    ...within(prefix, after, until),
    ConsistentRead: consistent,
    ScanIndexForward: !descending,
  };
  for await (const { Items = [] } of pagesOf({ ...query, Limit: pageSize })) {
    yield (Items as Item[]).filter(({ sk }) => sk !== after);
  }
}

/**
 * Number of items that `queryItems` would give, or of those that a filter lets through, for the
 * same units.
 */
export async function countItems(
  prefix: Key,
  filter: Pick<QueryCommandInput, 'FilterExpression'> = {},
): Promise<number> {
  const query = {
    ...within(prefix),
    ...filter,
    ConsistentRead: true,
    Select: 'COUNT',
    Limit: pageLimit,
  } as const;
  let count = 0;
  for await (const { Count = 0 } of pagesOf(query)) count += Count;
  return count;
}

/**
 * The entries of an index partition in order, page by page. Eventually consistent, as indexes are. Write the index's name where you call
 * it: the rights of a Lambda are read from its code.
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
  const bounds = [
    low === undefined ? '' : '#sort >= :low',
    high === undefined ? '' : '#sort <= :high',
  ];
  const condition =
    low !== undefined && high !== undefined ? '#sort BETWEEN :low AND :high' : bounds.join('');
  const pages = pagesOf({
    IndexName: index,
    KeyConditionExpression: `#scope = :partition${condition && ` AND ${condition}`}`,
    ExpressionAttributeNames: { '#scope': scope, ...(condition && { '#sort': sortKeyOf(order) }) },
    ExpressionAttributeValues: { ':partition': partition, ':low': low, ':high': high },
    ScanIndexForward: !descending,
    Limit: Math.min(pageLimit, pageSize),
  });
  for await (const { Items = [] } of pages) yield Items as Entry[];
}

/** The items of the whole table, a page at a time, each with the position to go on from; consistent. For operators. */
export async function* scanItems({
  from,
  pageSize = pageLimit,
  ...filter
}: {
  from?: Key;
  pageSize?: number;
} & Pick<
  ScanCommandInput,
  | 'FilterExpression'
  | 'ProjectionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
> = {}): AsyncGenerator<{ items: Item[]; position: Key | undefined }> {
  const scan = { TableName: tableName(), ConsistentRead: true, Limit: pageSize, ...filter };
  const pages = paginateScan({ client: table, startingToken: from }, scan);
  for await (const { Items = [], LastEvaluatedKey } of pages) {
    yield { items: Items as Item[], position: LastEvaluatedKey as Key | undefined };
  }
}

/** What pages hold, all of it or so much. */
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

/** What pages hold, one after the other. */
export async function* eachOf<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page;
}

/** The sort key of an entry. */
export function sortKeyIn(entry: Entry, order: Order): SortKey {
  const value = entry[sortKeyOf(order)] ?? '';
  // A rank within 2^53 comes as a number.
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Compares entries by their places in an order. */
export function byPlace({ order, descending }: Sorting): (a: Entry, b: Entry) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const [x, y] = [sortKeyIn(a, order), sortKeyIn(b, order)];
    return x === y ? 0 : x < y ? -sign : sign;
  };
}

/** Not by begins_with, in which the embedded engine ignores case. */
function within(prefix: Key, from = prefix.sk, to = `${prefix.sk}\u{10FFFF}`) {
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': prefix.pk, ':from': from, ':to': to },
  };
}

function pagesOf(query: Omit<QueryCommandInput, 'TableName'>) {
  return paginateQuery({ client: table }, { TableName: tableName(), ...query });
}
