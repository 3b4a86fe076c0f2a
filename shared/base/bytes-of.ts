/** Returns the size of a value in bytes, as Lambda counts it. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
