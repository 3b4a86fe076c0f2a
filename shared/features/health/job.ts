import type { Schedule } from '../../base/background/schedule.ts';

/** Writes an item that passes through each consumer, which shows that these work. */
export const job = {
  operation: 'send-heartbeat',
  runs: 'every minute',
  table: 'health',
  secrets: ['SIGNING_KEYS'],
} as const satisfies Schedule;
