import type { Within } from '../routes.ts';

// The Lambdas that follow the table's stream, and the records that each reads.

/** A Lambda that reads records of the table's stream. */
export interface Consumer {
  operation: string;
  /** Narrows its right to write, as that of a route. */
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
    within: 'lists',
    // Larger batches need fewer writes a change. 1,000 keep up with any load that the table takes.
    batchSize: 1000,
    records: [
      // Names of entities are indexed and logged. Cases that open, and proposals, are logged.
      { sortKeys: ['REVIEW', 'METADATA', 'CASE', 'PROPOSAL#', heartbeat] },
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
    batchSize: 100,
    records: [
      // A mapping takes five filters.
      { sortKeys: ['REVIEW', 'USER'], only: 'REMOVE' },
      { sortKeys: ['REVIEW', 'USER'], only: { has: 'deleted_at' } },
      // Only deletions and revocations matter. Unfiltered, because applications rarely change.
      { sortKeys: ['APP', heartbeat] },
      { sortKeys: ['USER'], only: { has: 'hiding' } },
    ],
  },
];

/** Returns true if the consumer reads this record, as the event source mapping on AWS does. */
export function isFor({ records }: Consumer, { eventName, dynamodb }: StreamRecord): boolean {
  const sortKey = dynamodb?.Keys?.sk?.S ?? '';
  return records.some(({ sortKeys, only }) => {
    if (!sortKeys.some((each) => (isPrefix(each) ? sortKey.startsWith(each) : sortKey === each))) {
      return false;
    }
    if (only === undefined) return true;
    return typeof only === 'string'
      ? eventName === only
      : dynamodb?.NewImage?.[only.has] !== undefined;
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
