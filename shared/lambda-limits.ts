/** The most that Lambda takes as the event of a call, in bytes of JSON. */
export const largestEvent = 6 * 1024 * 1024;

/** The most that Lambda takes as the answer to a call, in bytes of JSON. A body is a JSON string in it: quotes and line ends count twice. */
export const largestAnswer = largestEvent + 100;

/** How much of that a body may be: the rest is for the status, the headers and the frame. */
export const largestBody = largestAnswer - 10_000;

/** The bytes that Lambda counts for a value. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
