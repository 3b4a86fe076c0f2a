import type { Schedule } from '../../base/background/schedule.ts';

/** Asks the databases for names. */
export const job = {
  operation: 'update-names',
  runs: 'every minute',
  table: 'public',
  asks: true,
  timeout: 59,
} as const satisfies Schedule;
