/** Absolute paths of what is generated. */
export const files: readonly string[];

/** Makes what is missing or older than the code. Throws if it cannot. */
export function refresh(): void;
