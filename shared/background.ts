/** A Lambda that reads the table's stream. Only the records that one of these kinds describes reach it. */
export interface Consumer {
  operation: string;
  records: readonly RecordKind[];
  /** So many records at most are handed over at once. */
  batchSize: number;
}

/** Records of items with this sort key: all, only those of one kind of event, or only those whose new image has an attribute, a text. */
export interface RecordKind {
  sortKey: string;
  only?: 'INSERT' | 'REMOVE' | { has: string };
}

/** A Lambda that runs every day at this time, UTC. */
export interface Schedule {
  operation: string;
  minute: number;
  hour: number;
}

/** What follows the table's stream. */
export const consumers: readonly Consumer[] = [
  {
    operation: 'update-aggregates',
    // The more changes at once, the fewer writes each: a thousand keep up with any load that the table takes.
    batchSize: 1000,
    records: [
      { sortKey: 'REVIEW' },
      // Karma and counts change with every vote and publication, and are no affair of totals.
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
      // Deleted, or revoked for everybody: a mapping takes five filters, and few register or change an application.
      { sortKey: 'APP' },
      { sortKey: 'USER', only: 'REMOVE' },
      { sortKey: 'USER', only: { has: 'deleted_at' } },
      { sortKey: 'REVIEW', only: { has: 'deleted_at' } },
    ],
  },
];

/** What runs once a day. A quarter past midnight no request of the day before is still in flight. */
export const schedules: readonly Schedule[] = [
  { operation: 'expire-vote-counters', minute: 15, hour: 0 },
];

/** Whether a consumer asks for a record; on AWS an event source mapping decides it by the same data. */
export function isFor({ records }: Consumer, { eventName, dynamodb }: StreamRecord): boolean {
  return records.some(({ sortKey, only }) => {
    if (dynamodb?.Keys?.sk?.S !== sortKey) return false;
    if (only === undefined) return true;
    return typeof only === 'string'
      ? eventName === only
      : dynamodb.NewImage?.[only.has] !== undefined;
  });
}

/** As much of a stream record as decides who gets it. */
interface StreamRecord {
  eventName?: string;
  dynamodb?: {
    Keys?: Record<string, { S?: string }>;
    NewImage?: Record<string, unknown>;
  };
}
