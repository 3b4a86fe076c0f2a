// A disk without room, on which a database in this process refuses every write.

let isFull = false;

/** Is true for the error of SQLite when it cannot store anything more. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && /disk is full/i.test(error.message);
}

/** Notes the end of a write: `error` is why it failed, if it did. */
export function noteWrite(error?: unknown): void {
  isFull = isDiskFull(error);
}

/** Returns true if the last write that this process noted has found the disk full. */
export function hasFullDisk(): boolean {
  return isFull;
}
