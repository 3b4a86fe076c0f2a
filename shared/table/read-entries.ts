import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { TableName, table } from './client.ts';
import { type Order, type Scope, sortKeyOf } from './definition.ts';
import type { IndexAttributes, Key } from './keys.ts';

/** One partition of an index scope, such as all reviews of an entity. */
export interface Partition {
  scope: Scope;
  value: string;
  /** About which part of what is wanted it has, from 0 to 1, where that is known. */
  share?: number;
  /** About which part of its entries is accepted. Both set the size of the first page. */
  density?: number;
}

/** An index entry: the keys of an item and the projected attributes. */
export type Entry = Key & IndexAttributes & { user_id?: string };

/** What entries are sorted by: `date` or `popularity_rank`. */
export type SortValue = string | bigint;

/** The order of a list. */
export interface Sorting {
  order: Order;
  descending: boolean;
}

/** Sort values from the first to the last, both included. */
export interface Bounds {
  low: SortValue;
  high: SortValue;
}

/** Which entries to read of some partitions, merged into one order. */
export interface Range extends Sorting {
  /** Passes over all up to this sort value. */
  after?: SortValue;
  /** How many accepted entries to pass over first. */
  skip: number;
  /** How many to give after those, at most. */
  take: number;
  accept?: (entry: Entry) => boolean;
}

interface Source extends Partition {
  entries: Entry[];
  /** Where the next unmerged entry stands in `entries`. */
  at: number;
  /** How many were read of it, accepted or not. */
  read: number;
  next?: Record<string, unknown>;
  exhausted: boolean;
}

/**
 * Numbers of entries, about 190 bytes each. `halfUnit` is what fits the least that a Query costs, so that to ask for fewer saves nothing.
 * `skipped` is how many a reader may skip, for 12 units at most: up to this length the lists of entities and authors have no calendar, and
 * slots of calendars are not divided. Tests set both low.
 */
export const limits = { halfUnit: 20, skipped: 400 };

/** One page of a Query holds about this many entries (1 MB); to ask for more at once is of no use. */
const pageLimit = 4000;

const unbounded = { most: Number.POSITIVE_INFINITY, rounds: Number.POSITIVE_INFINITY };

/** Reads a range of index entries. Eventually consistent, as indexes are. */
export async function readEntries(
  partitions: readonly Partition[],
  range: Range,
): Promise<Entry[]> {
  return (await merge(partitions, range, unbounded)) ?? [];
}

/** How much of an index may be read: so many entries, accepted or not, and so many pages of a partition one after the other. */
export interface Bound {
  most: number;
  rounds: number;
}

/** The same within a bound; undefined if that is not enough. */
export function readNearEntries(
  partitions: readonly Partition[],
  range: Range,
  bound: Bound,
): Promise<Entry[] | undefined> {
  return merge(partitions, range, bound);
}

/** How many entries of a partition to read at first for so many that are wanted of all. */
export function firstPageSize({ share = 1, density = 1 }: Partition, wanted: number): number {
  const expected = wanted * share;
  // Four standard deviations more than may be expected, so that one page nearly always does.
  const slack = 4 * Math.sqrt(expected * (1 - share * density));
  return Math.max(Math.ceil((expected + slack) / density), Math.min(wanted, limits.halfUnit));
}

/** Reads all entries within the bounds, or the first `limit` of them. */
export async function readBetween(
  partition: Partition,
  sorting: Sorting,
  { low, high }: Bounds,
  limit: number,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let next: Record<string, unknown> | undefined;
  do {
    const page = await queryEntries(partition, sorting, {
      condition: 'BETWEEN :low AND :high',
      values: { ':low': low, ':high': high },
      limit: Math.min(pageLimit, limit - entries.length),
      next,
    });
    entries.push(...page.entries);
    next = page.next;
  } while (next && entries.length < limit);
  return entries;
}

/** The sort value of an entry. */
export function sortValueOf(entry: Entry, order: Order): SortValue {
  const value = entry[sortKeyOf(order)] ?? '';
  // A rank within 2^53 comes as a number.
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Compares entries of one order by their places in it. */
export function byPlace({ order, descending }: Sorting): (a: Entry, b: Entry) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const [x, y] = [sortValueOf(a, order), sortValueOf(b, order)];
    return x === y ? 0 : x < y ? -sign : sign;
  };
}

async function merge(
  partitions: readonly Partition[],
  { order, descending, after, skip, take, accept = () => true }: Range,
  { most, rounds }: Bound,
): Promise<Entry[] | undefined> {
  const wanted = skip + take;
  const compare = byPlace({ order, descending });
  const sources = partitions.map((partition): Source => {
    return { ...partition, entries: [], at: 0, read: 0, exhausted: false };
  });
  const merged: Entry[] = [];

  for (let round = 1; merged.length < wanted; round++) {
    const starved = sources.filter(
      ({ entries, at, exhausted }) => at === entries.length && !exhausted,
    );
    const sizes = starved.map((source) =>
      Math.min(pageLimit, round === 1 ? firstPageSize(source, wanted) : nextPageSize(source)),
    );
    const read = sources.reduce((sum, source) => sum + source.read, 0);
    const more = sizes.reduce((sum, size) => sum + size, 0);
    if (more > 0 && (round > rounds || read + more > most)) return undefined;
    await Promise.all(starved.map((source, i) => fill(source, sizes[i] ?? 1)));
    if (starved.some(({ entries, exhausted }) => entries.length === 0 && !exhausted)) continue;
    if (!mergeUntilStarved()) break;
  }
  return merged.slice(skip);

  /** All that can still be of use; and as much again, lest many rounds be needed where entries are sparse. */
  function nextPageSize({ read, density = 1 }: Source): number {
    return Math.ceil(Math.max(limits.halfUnit, read, (wanted - merged.length) / density));
  }

  async function fill(source: Source, limit: number): Promise<void> {
    const page = await queryEntries(
      source,
      { order, descending },
      {
        condition: after === undefined ? undefined : `${descending ? '<' : '>'} :after`,
        values: after === undefined ? {} : { ':after': after },
        limit,
        next: source.next,
      },
    );
    source.read += page.entries.length;
    source.entries = page.entries.filter(accept);
    source.at = 0;
    source.next = page.next;
    source.exhausted = page.next === undefined;
  }

  /** Takes the foremost entry of all sources, again and again; false when there is nothing left anywhere. */
  function mergeUntilStarved(): boolean {
    while (merged.length < wanted) {
      let first: Source | undefined;
      for (const source of sources) {
        if (source.at < source.entries.length && (!first || precedes(source, first)))
          first = source;
      }
      const entry = first?.entries[first.at];
      if (!first || !entry) return false;
      merged.push(entry);
      first.at++;
      if (first.at === first.entries.length && !first.exhausted) return true;
    }
    return true;
  }

  function precedes(a: Source, b: Source): boolean {
    const [x, y] = [a.entries[a.at], b.entries[b.at]];
    return x !== undefined && y !== undefined && compare(x, y) < 0;
  }
}

async function queryEntries(
  { scope, value }: Partition,
  { order, descending }: Sorting,
  {
    condition,
    values,
    limit,
    next,
  }: {
    condition: string | undefined;
    values: Record<string, SortValue>;
    limit: number;
    next: Record<string, unknown> | undefined;
  },
): Promise<{ entries: Entry[]; next: Record<string, unknown> | undefined }> {
  const { Items = [], LastEvaluatedKey } = await table.send(
    new QueryCommand({
      TableName,
      IndexName: `${scope}-by-${order}`,
      KeyConditionExpression: `#partition = :partition${condition ? ` AND #sort ${condition}` : ''}`,
      ExpressionAttributeNames: {
        '#partition': scope,
        ...(condition && { '#sort': sortKeyOf(order) }),
      },
      ExpressionAttributeValues: { ':partition': value, ...values },
      ScanIndexForward: !descending,
      Limit: limit,
      ExclusiveStartKey: next,
    }),
  );
  return { entries: Items as Entry[], next: LastEvaluatedKey };
}
