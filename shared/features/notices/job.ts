import type { Schedule } from '../../base/background/schedule.ts';

/** Sends mails. */
export const job = {
  operation: 'send-notices',
  runs: 'every minute',
  table: 'notices',
  secrets: ['SESSION_KEYS'],
  timeout: 59,
  isForMails: true,
} as const satisfies Schedule;
