import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DynamoDBRecord } from 'aws-lambda';
import { engineRecords, firstOf, mostRecords, type NumberedRecord } from './engine-records.ts';

/** The stream records of the embedded engine, which everybody who follows them shares. */
export interface RecordLog {
  /** Changes with every commit of the engine. */
  version(): unknown;
  /** Returns a function that returns the next records in Lambda's form, or none at the end. */
  open(): () => Promise<DynamoDBRecord[]>;
  /** Calls `notice` with all new records in order, or with undefined if some may be missing. */
  watch(notice: (records: DynamoDBRecord[] | undefined) => void): void;
  /** Lets `notice` know of all that was committed. Throws if the database is locked. */
  look(): void;
  /** All consumers have processed the records up to `number`. Deletes them in a second, or now. */
  processed(number: number, now?: 'now'): void;
  close(): void;
}

/** In bytes of images: two reads. A consumer that lags by more reads the file again. */
const mostHeld = 2 * 1024 * 1024;

/** In milliseconds, between two deletions. Each one empties the page cache of the engine. */
const deletionInterval = 1_000;

/**
 * Opens the records of a table. Each is read and parsed once, and held until all consumers have
 * processed it.
 */
export function openRecordLog(file: string, tableName: string): RecordLog {
  const records = engineRecords(file, tableName);
  /** All records after the number `heldAfter`, up to the number `last`. */
  let held: NumberedRecord[] = [];
  let heldBytes = 0;
  let heldAfter = 0;
  let last = 0;
  /** Number of the newest record that a consumer has taken. */
  let taken = 0;
  /** The version of the database of which everything was read. */
  let readVersion: unknown;
  let wasBlind = true;
  let lastDeletion = 0;
  let notice: (records: DynamoDBRecord[] | undefined) => void = () => {};

  function read() {
    const { found, newest, version } = records.readTogether(last);
    // A commit without a record: a bulk import has turned the stream off.
    const isBlind = found[0]?.number !== last + 1;
    hold(found);
    const isAll = last >= newest;
    if (isAll) readVersion = version;
    notice(isAll && !isBlind && !wasBlind ? found.map(({ record }) => record) : undefined);
    wasBlind = isBlind;
  }

  function hold(found: NumberedRecord[]) {
    held.push(...found);
    heldBytes += sizeOf(found);
    last = found.at(-1)?.number ?? last;
    let bytes = heldBytes;
    const kept = held.findIndex(({ size }) => {
      if (bytes <= mostHeld) return true;
      bytes -= size;
      return false;
    });
    drop(kept);
  }

  function drop(count: number) {
    const dropped = held.slice(0, count);
    held = held.slice(count);
    heldBytes -= sizeOf(dropped);
    heldAfter = dropped.at(-1)?.number ?? heldAfter;
  }

  function after(number: number): NumberedRecord[] {
    while (number >= last && records.version() !== readVersion) read();
    if (number < heldAfter) return records.readAfter(number);
    return firstOf(held.slice(firstAfter(number)));
  }

  function firstAfter(number: number): number {
    const index = held.findIndex((record) => record.number > number);
    return index < 0 ? held.length : index;
  }

  return {
    version: records.version,
    open() {
      let position = 0;
      return async () => {
        // Requests are answered between two reads of a long backlog.
        await nextTurn();
        const next = after(position);
        position = next.at(-1)?.number ?? position;
        taken = Math.max(taken, position);
        return next.map(({ record }) => record);
      };
    },
    watch(watcher) {
      notice = watcher;
    },
    look() {
      if (records.version() === readVersion) return;
      // In a long backlog, the records of one read would be dropped before a consumer takes them.
      if (last - taken < mostRecords) read();
      else notice(undefined);
    },
    processed(number, now) {
      drop(firstAfter(number));
      const time = performance.now();
      if (!now && time - lastDeletion < deletionInterval) return;
      lastDeletion = time;
      records.removeBefore(number);
    },
    close: records.close,
  };
}

const sizeOf = (records: readonly NumberedRecord[]) =>
  records.reduce((sum, { size }) => sum + size, 0);
