let last = { iso: '', date: '' };

/** A time stamp of the API (spec section 1), from the ISO 8601 one that is stored. */
export function httpDate(iso: string): string {
  // Most times of a review are one and the same, and nothing else about it takes as long to write.
  if (iso !== last.iso) last = { iso, date: new Date(iso).toUTCString() };
  return last.date;
}
