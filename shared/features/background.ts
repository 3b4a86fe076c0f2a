import { type Consumer, isReadByAny } from '../base/background/consumer.ts';
import type { Schedule } from '../base/background/schedule.ts';
import type { Item } from '../base/table/item.ts';
import * as bring from './bring/public.ts';
import * as health from './health/public.ts';
import * as names from './names/public.ts';
import * as notices from './notices/public.ts';
import * as webhooks from './webhooks/public.ts';

// What runs beside requests: a Lambda each, on AWS, whose handler is in functions/background.

/**
 * Sort key of the item that a job writes every minute. Its record passes through each consumer,
 * which shows that the consumer works.
 */
const heartbeat = 'DONE#heartbeat';

/** Lambdas that follow the stream of the table, and the records that each reads. */
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
      bring.followed,
    ],
  },
];

/** Returns true if any consumer reads the record of a change. */
export const isFollowed = (change: { before?: Item | undefined; after?: Item | undefined }) =>
  isReadByAny(consumers, change);

/** Lambdas that run at a time of day, or every minute. */
export const schedules: readonly Schedule[] = [
  // At 00:15 UTC, no request of the day before is still running.
  {
    operation: 'expire-vote-counters',
    runs: { hour: 0, minute: 15 },
    table: 'write',
    within: 'counters',
  },
  health.job,
  names.job,
  webhooks.job,
  notices.job,
];

/** Returns the jobs of a service that sends mails, or of one that sends none. */
export function schedulesOf({ isMailing }: { isMailing: boolean }): readonly Schedule[] {
  return schedules.filter(({ isForMails }) => isMailing || !isForMails);
}
