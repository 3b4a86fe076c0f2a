/** A Lambda that reads records of the table's stream. */
export interface Consumer {
  operation: string;
  records: readonly RecordKind[];
  /** Records in one call, at most. */
  batchSize: number;
}

/**
 * Records of items with this sort key: all, inserts, removals, or new images with a text attribute.
 */
export interface RecordKind {
  sortKey: string;
  only?: 'INSERT' | 'REMOVE' | { has: string };
}

/** A Lambda that runs daily at this time, in UTC. */
export interface Schedule {
  operation: string;
  minute: number;
  hour: number;
}

export const consumers: readonly Consumer[] = [
  {
    operation: 'update-aggregates',
    // Larger batches need fewer writes a change. 1,000 keep up with any load that the table takes.
    batchSize: 1000,
    records: [
      { sortKey: 'REVIEW' },
      // Other changes of users, such as karma, do not affect totals.
      { sortKey: 'USER', only: 'INSERT' },
      { sortKey: 'USER', only: 'REMOVE' },
      { sortKey: 'USER', only: { has: 'deleted_at' } },
    ],
  },
  {
    operation: 'eraser',
    batchSize: 100,
    records: [
      { sortKey: 'REVIEW', only: 'REMOVE' },
      // Only deletions and revocations matter. Unfiltered, because a mapping takes five filters and
      // applications rarely change.
      { sortKey: 'APP' },
      { sortKey: 'USER', only: 'REMOVE' },
      { sortKey: 'USER', only: { has: 'deleted_at' } },
      { sortKey: 'REVIEW', only: { has: 'deleted_at' } },
    ],
  },
];

/** At 00:15 UTC, no request of the day before is still running. */
export const schedules: readonly Schedule[] = [
  { operation: 'expire-vote-counters', minute: 15, hour: 0 },
];

/** Returns true if the consumer reads this record, as the event source mapping on AWS does. */
export function isFor({ records }: Consumer, { eventName, dynamodb }: StreamRecord): boolean {
  return records.some(({ sortKey, only }) => {
    if (dynamodb?.Keys?.sk?.S !== sortKey) return false;
    if (only === undefined) return true;
    return typeof only === 'string'
      ? eventName === only
      : dynamodb.NewImage?.[only.has] !== undefined;
  });
}

interface StreamRecord {
  eventName?: string;
  dynamodb?: { Keys?: Record<string, { S?: string }>; NewImage?: Record<string, unknown> };
}
