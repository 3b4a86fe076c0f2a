// Limits of Lambda on requests and responses.

/** Largest event that Lambda accepts, in bytes of JSON. */
const largestEvent = 6 * 1024 * 1024;

/** Largest response in bytes of JSON, in which quotes and line ends of a body take two bytes. */
export const largestAnswer = largestEvent + 100;

/** Largest body, measured like `largestAnswer`. The rest is for status and headers. */
export const largestBody = largestAnswer - 10_000;
