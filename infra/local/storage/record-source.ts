import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBRecord } from 'aws-lambda';
import type { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { recordOf } from './change-records.ts';
import { shardReader } from './shard-reader.ts';

/** The records of the table's changes, in the form of Lambda. */
export interface RecordSource {
  /** Returns a function that returns the next records, or none at the end. */
  open(): () => Promise<DynamoDBRecord[]>;
  /** Changes when there may be new records. */
  version(): unknown;
  /** Resolves when the version may be another one. */
  next(version: unknown): Promise<void>;
  /** Ends all waits for the next version. */
  wake(): void;
  /** All consumers have processed the records up to a number. */
  processed(number: number): Promise<void>;
  close(): void;
}

/** In milliseconds: the longest wait until a commit of another process is seen. */
const interval = 250;

/** In milliseconds, between two reads of the stream of a DynamoDB. */
const streamInterval = 50;

/** Returns the changes of the storage in this process. It deletes what is processed. */
export function changesOf(storage: SqliteStorage): RecordSource {
  let waiting = Promise.withResolvers<void>();
  let seen = storage.version();

  function wake() {
    seen = storage.version();
    waiting.resolve();
    waiting = Promise.withResolvers();
  }
  storage.onCommit(wake);
  const timer = setInterval(() => {
    if (storage.version() !== seen) wake();
  }, interval).unref();

  return {
    open() {
      let position = 0;
      return async () => {
        const changes = await storage.changes.after(position);
        position = changes.at(-1)?.number ?? position;
        return changes.map(recordOf);
      };
    },
    version: () => storage.version(),
    next: async (version) => (version === storage.version() ? waiting.promise : undefined),
    wake,
    processed: (number) => storage.changes.delete(number),
    close: () => clearInterval(timer),
  };
}

/** Returns the stream of a DynamoDB, which deletes its records itself. */
export function streamOf(endpoint: string, streamArn: string): RecordSource {
  const { open, close } = shardReader(endpoint, streamArn);
  return {
    open() {
      const read = open();
      return async () => (await read()).filter(hasChanged);
    },
    version: () => undefined,
    next: () => sleep(streamInterval, undefined, { ref: false }),
    wake: () => {},
    processed: async () => {},
    close,
  };
}

/** On AWS, a write that changes nothing makes no record. Other databases make one. */
function hasChanged({ dynamodb, eventName }: DynamoDBRecord): boolean {
  return eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.NewImage, dynamodb?.OldImage);
}
