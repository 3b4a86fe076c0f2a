import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { TableName, table } from './client.ts';
import { type Order, type Scope, sortKeyOf } from './definition.ts';
import type { IndexAttributes, Key } from './keys.ts';

/** One partition of an index scope, such as all reviews of an entity. */
export interface Partition {
  scope: Scope;
  value: string;
}

/** An index entry: the keys of an item and the projected attributes. */
export type Entry = Key & IndexAttributes & { user_id?: string };

/** Which entries to read of some partitions, merged into one order. */
export interface Range {
  order: Order;
  descending: boolean;
  /** How many accepted entries to pass over first. */
  skip: number;
  /** How many to give after those, at most. */
  take: number;
  accept?: (entry: Entry) => boolean;
  /** About which share of the entries is accepted: it sets the size of the first pages. */
  density?: number;
}

interface Source extends Partition {
  entries: Entry[];
  /** Where the next unmerged entry stands in `entries`. */
  at: number;
  next?: Record<string, unknown>;
  exhausted: boolean;
}

/** One page of a Query holds about this many entries (1 MB); to ask for more at once is of no use. */
const pageLimit = 4000;

/** Reads a range of index entries. Eventually consistent, as indexes are. */
export async function readEntries(
  partitions: readonly Partition[],
  { order, descending, skip, take, accept = () => true, density = 1 }: Range,
): Promise<Entry[]> {
  const wanted = skip + take;
  const exact = partitions.length === 1 && density === 1;
  const limit = Math.ceil(wanted / density / partitions.length) + (exact ? 0 : 10);
  const sources = partitions.map((partition): Source => {
    return { ...partition, entries: [], at: 0, exhausted: false };
  });
  const merged: Entry[] = [];

  while (merged.length < wanted) {
    const starved = sources.filter(
      ({ entries, at, exhausted }) => at === entries.length && !exhausted,
    );
    await Promise.all(starved.map(fill));
    if (starved.some(({ entries, exhausted }) => entries.length === 0 && !exhausted)) continue;
    if (!mergeUntilStarved()) break;
  }
  return merged.slice(skip);

  async function fill(source: Source): Promise<void> {
    const { Items, LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName,
        IndexName: `${source.scope}-by-${order}`,
        KeyConditionExpression: '#partition = :partition',
        ExpressionAttributeNames: { '#partition': source.scope },
        ExpressionAttributeValues: { ':partition': source.value },
        ScanIndexForward: !descending,
        Limit: Math.max(1, Math.min(pageLimit, limit)),
        ExclusiveStartKey: source.next,
      }),
    );
    source.entries = ((Items ?? []) as Entry[]).filter(accept);
    source.at = 0;
    source.next = LastEvaluatedKey;
    source.exhausted = LastEvaluatedKey === undefined;
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
    const [x, y] = [sortValue(a), sortValue(b)];
    return descending ? x > y : x < y;
  }

  function sortValue({ entries, at }: Source): string | bigint {
    return entries[at]?.[sortKeyOf(order)] ?? '';
  }
}
