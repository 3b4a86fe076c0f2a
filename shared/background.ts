/** A Lambda that reads the table's stream: only records of items with one of these sort keys reach it. */
export interface Consumer {
  operation: string;
  sortKeys: readonly string[];
}

/** A Lambda that runs by the clock. `cron` is minute and hour, UTC, every day. */
export interface Schedule {
  operation: string;
  minute: number;
  hour: number;
}

/** What follows the table's stream. */
export const consumers: readonly Consumer[] = [
  { operation: 'feed', sortKeys: ['REVIEW', 'USER'] },
  { operation: 'eraser', sortKeys: ['REVIEW', 'USER', 'APP'] },
];

/** What runs once a day. A quarter past midnight no request of the day before is still in flight. */
export const schedules: readonly Schedule[] = [
  { operation: 'expire-vote-counters', minute: 15, hour: 0 },
];
