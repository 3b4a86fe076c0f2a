import { setTimeout as sleep } from 'node:timers/promises';

let last = { iso: '', date: '' };

/** Converts a stored ISO 8601 time into an HTTP date, as in API responses. */
export function httpDate(iso: string): string {
  // Most times of a review are equal, and formatting is the slowest part of presenting it.
  if (iso !== last.iso) last = { iso, date: new Date(iso).toUTCString() };
  return last.date;
}

/** Returns the UTC day, yyyy-mm-dd, this many days before today. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Returns epoch seconds, now or `later` seconds from now, as expiry times are stored. */
export function epochSeconds(later = 0): number {
  return Math.floor(Date.now() / 1000) + later;
}

/** Returns epoch seconds as an ISO 8601 time. */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** Waits a random time of up to 10 ms × 2^attempt, at most `most` ms ("full jitter"). */
export async function backOff(attempt: number, most = 640): Promise<void> {
  await sleep(Math.random() * Math.min(most, 10 * 2 ** attempt));
}
