import type { Schedule } from '../../base/background/schedule.ts';

/** Sends messages. Each webhook has a lease, and a request that begins late has its time. */
export const job = {
  operation: 'send-webhooks',
  runs: 'every minute',
  table: 'webhooks',
  secrets: ['WEBHOOK_KEYS'],
  timeout: 75,
  lookEvery: 5,
} as const satisfies Schedule;
