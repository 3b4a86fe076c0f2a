import type { Route, Within } from '../routes.ts';
import type { Item } from '../table/item.ts';

// The Lambdas that follow the table's stream, and the records that each reads.

/** A Lambda that reads records of the table's stream. */
export interface Consumer {
  operation: string;
  /** Rights on the table, as those of a route. */
  table: Route['table'];
  within?: Within;
  records: readonly RecordKind[];
  /** Records in one call, at most. */
  batchSize: number;
}

/**
 * Records of items with these sort keys, or prefixes of sort keys, which end in #: all, inserts,
 * removals, or new images with a text attribute.
 */
export interface RecordKind {
  sortKeys: readonly string[];
  only?: 'INSERT' | 'REMOVE' | { has: string };
}

/**
 * Sort key of the item that a job writes every minute. Its record passes through each consumer,
 * which shows that the consumer works.
 */
const heartbeat = 'DONE#heartbeat';

export const consumers: readonly Consumer[] = [
  {
    operation: 'update-aggregates',
    table: 'write',
    within: 'lists',
    // Larger batches need fewer writes a change. 1,000 keep up with any load that the table takes.
    batchSize: 1000,
    records: [
      // Names of entities are indexed and logged, and counts move things in their lists. Cases that
      // open, and proposals, are logged.
      { sortKeys: ['REVIEW', 'METADATA', 'ENTITY', 'CASE', 'PROPOSAL#', heartbeat] },
      // Other changes of users, such as karma, do not affect totals.
      { sortKeys: ['USER'], only: 'INSERT' },
      { sortKeys: ['USER'], only: 'REMOVE' },
      { sortKeys: ['USER'], only: { has: 'deleted_at' } },
      // The end of a grant, which the application learns by its webhook. A mapping takes five.
      { sortKeys: ['GRANT#'], only: 'REMOVE' },
    ],
  },
  {
    operation: 'eraser',
    table: 'write',
    batchSize: 100,
    records: [
      // A mapping takes five filters.
      { sortKeys: ['REVIEW', 'USER'], only: 'REMOVE' },
      { sortKeys: ['REVIEW', 'USER'], only: { has: 'deleted_at' } },
      // Only deletions and revocations matter. Unfiltered, because applications rarely change.
      { sortKeys: ['APP', heartbeat] },
      { sortKeys: ['USER'], only: { has: 'hiding' } },
      // Files of reviews that people bring, as long as there is something to do.
      { sortKeys: ['FILE#'], only: { has: 'task' } },
    ],
  },
];

/** Returns true if the consumer reads this record, as the event source mapping on AWS does. */
export function isFor(consumer: Consumer, { eventName, dynamodb }: StreamRecord): boolean {
  return reads(consumer, `${dynamodb?.Keys?.sk?.S}`, eventName, () => dynamodb?.NewImage);
}

/** Returns true if any consumer reads the record of a change. */
export function isFollowed({
  before,
  after,
}: {
  before?: Item | undefined;
  after?: Item | undefined;
}): boolean {
  const name = before === undefined ? 'INSERT' : 'MODIFY';
  const sortKey = `${(after ?? before)?.sk}`;
  return consumers.some((each) => reads(each, sortKey, after ? name : 'REMOVE', () => after));
}

function reads(
  { records }: Consumer,
  sortKey: string,
  eventName: string | undefined,
  image: () => object | undefined,
): boolean {
  return records.some(({ sortKeys, only }) => {
    if (!sortKeys.some((each) => (isPrefix(each) ? sortKey.startsWith(each) : sortKey === each))) {
      return false;
    }
    if (only === undefined) return true;
    return typeof only === 'string' ? eventName === only : only.has in (image() ?? {});
  });
}

/** Returns true for the beginning of sort keys, such as `GRANT#`. */
export function isPrefix(sortKey: string): boolean {
  return sortKey.endsWith('#');
}

interface StreamRecord {
  eventName?: string;
  dynamodb?: { Keys?: Record<string, { S?: string }>; NewImage?: Record<string, unknown> };
}
