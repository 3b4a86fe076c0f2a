import { setTimeout as sleep } from 'node:timers/promises';

let last = { iso: '', date: '' };

/** A time stamp of the API, an HTTP date, from the ISO 8601 one that is stored. */
export function httpDate(iso: string): string {
  // Most times of a review are one and the same, and nothing else about it takes as long to write.
  if (iso !== last.iso) last = { iso, date: new Date(iso).toUTCString() };
  return last.date;
}

/** The UTC day, yyyy-mm-dd, so many days before today. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Whole seconds since 1970, or so many seconds later, as expiry times are stored. */
export function epochSeconds(later = 0): number {
  return Math.floor(Date.now() / 1000) + later;
}

/**
 * Waits before another attempt: a random time of up to 10 ms × 2^attempt, and of up to `most` ms
 * ("full jitter", so that those who failed together do not come back together).
 */
export async function backOff(attempt: number, most = 640): Promise<void> {
  await sleep(Math.random() * Math.min(most, 10 * 2 ** attempt));
}
