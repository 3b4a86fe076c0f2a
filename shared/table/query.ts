import { GetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from './batch.ts';
import { TableName, table } from './client.ts';
import { type Order, type Scope, sortKeyOf } from './definition.ts';
import { between, type IndexAttributes, type Key } from './keys.ts';

/** One partition of an index scope, such as all reviews of an entity. */
export interface Partition {
  scope: Scope;
  value: string;
}

/** An index entry: the keys of an item and the projected attributes, about 190 bytes. */
export type Entry = Key & IndexAttributes & { user_id?: string };

/** What entries are sorted by: `date` or `popularity_rank`. */
export type SortKey = string | bigint;

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
    new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: consistent }),
  );
  return Item as Item | undefined;
}

/** The items of a partition whose sort keys begin as that of `prefix` does, page by page; consistent unless half the units will do. */
export async function* queryItems(
  prefix: Key,
  { pageSize = 250, descending = false, consistent = true } = {},
): AsyncGenerator<Item[]> {
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': prefix.pk, ...between(prefix.sk) },
        ConsistentRead: consistent,
        ScanIndexForward: !descending,
        Limit: pageSize,
        ExclusiveStartKey,
      }),
    );
    yield (page.Items ?? []) as Item[];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

/** The entries of an index partition in order, page by page. Eventually consistent, as indexes are. */
export async function* queryIndex(
  { scope, value }: Partition,
  { order, descending }: Sorting,
  { range = {}, pageSize = 250 }: { range?: KeyRange; pageSize?: number } = {},
): AsyncGenerator<Entry[]> {
  const { low, high } = range;
  const condition =
    low === undefined
      ? high === undefined || '#sort <= :high'
      : high === undefined
        ? '#sort >= :low'
        : '#sort BETWEEN :low AND :high';
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new QueryCommand({
        TableName,
        IndexName: `${scope}-by-${order}`,
        KeyConditionExpression: `#partition = :partition${condition === true ? '' : ` AND ${condition}`}`,
        ExpressionAttributeNames: {
          '#partition': scope,
          ...(condition !== true && { '#sort': sortKeyOf(order) }),
        },
        ExpressionAttributeValues: {
          ':partition': value,
          ...(low !== undefined && { ':low': low }),
          ...(high !== undefined && { ':high': high }),
        },
        ScanIndexForward: !descending,
        Limit: Math.min(pageLimit, pageSize),
        ExclusiveStartKey,
      }),
    );
    yield (page.Items ?? []) as Entry[];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
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

/** All items of the table, a page at a time, each with the position to go on from; consistent. */
export async function* scanItems({
  from,
  pageSize = 250,
}: {
  from?: Key;
  pageSize?: number;
} = {}): AsyncGenerator<{ items: Item[]; position: Key | undefined }> {
  let ExclusiveStartKey: Record<string, unknown> | undefined = from && { ...from };
  do {
    const page = await table.send(
      new ScanCommand({ TableName, ConsistentRead: true, Limit: pageSize, ExclusiveStartKey }),
    );
    ExclusiveStartKey = page.LastEvaluatedKey;
    yield { items: (page.Items ?? []) as Item[], position: ExclusiveStartKey as Key | undefined };
  } while (ExclusiveStartKey);
}
