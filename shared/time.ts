/** A time stamp of the API (spec section 1), from the ISO 8601 one that is stored. */
export function httpDate(iso: string): string {
  return new Date(iso).toUTCString();
}
