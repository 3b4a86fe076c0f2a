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
