import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { type Consumer, isFor } from '../../shared/background/consumers.ts';
import { chunks } from '../../shared/chunks.ts';
import { type Changes, followChanges } from './changes.ts';
import { type Commits, type Look, watchCommits } from './commits.ts';
import { type Handler, invoke, type Load } from './invoke.ts';
import { openRecordLog } from './record-log.ts';
import { shardReader } from './shard-reader.ts';

export interface Stream {
  /** Changes with every commit to the embedded database. Undefined if it is unknown. */
  version(): unknown;
  /** Changes of the embedded database. Undefined with another database. */
  changes: Changes | undefined;
  /** Resolves when every consumer has processed all that was written before the call. */
  idle(): Promise<void>;
  /** Resolves when current batches are done or given up. The next start reads the rest again. */
  stop(): Promise<void>;
}

const longestBackoff = 10_000;

/**
 * Feeds the table's stream to the consumers, each at its own pace and in order, as event source
 * mappings of Lambda do. A failed batch is retried from its first failed record until it succeeds.
 * Reading starts at the oldest record, so a consumer gets some records again after a restart. With
 * `file`, the embedded database, records are read from there, and deleted when all consumers have
 * processed them.
 */
export async function followStream(options: {
  endpoint: string;
  streamArn: string;
  consumers: readonly Consumer[];
  load: Load;
  file?: string;
}): Promise<Stream> {
  const { endpoint, streamArn, consumers, load, file } = options;
  // Loaded here, so that a missing file fails the start and not the first record.
  const handlers = await Promise.all(consumers.map(({ operation }) => load(operation)));
  const [, tableName = ''] = streamArn.split('/');
  const records = file === undefined ? undefined : openRecordLog(file, tableName);
  const source = records ?? shardReader(endpoint, streamArn);
  const commits = watchCommits(records?.version, file);
  const positions = new Map(consumers.map(({ operation }) => [operation, 0]));
  const processed = (now?: 'now') => records?.processed(Math.min(...positions.values()), now);

  const followers = consumers.map((consumer, i) =>
    follow(consumer, handlers[i] as Handler, {
      read: source.open(),
      done(sequenceNumber) {
        positions.set(consumer.operation, Number(sequenceNumber));
        processed();
      },
      commits,
    }),
  );
  let isStopped = false;
  return {
    changes: records && followChanges(records, () => isStopped),
    version: () => (records && !isStopped ? commits.look().version : undefined),
    async idle() {
      commits.hurry();
      await Promise.all(followers.map((follower) => follower.idle()));
      processed('now');
    },
    async stop() {
      isStopped = true;
      const stopped = Promise.all(followers.map((follower) => follower.stop()));
      commits.stop();
      await stopped;
      processed('now');
      source.close();
    },
  };
}

/** The stream as a consumer reads it. */
interface Source {
  /** Returns the next records, or none at the end. */
  read(): Promise<DynamoDBRecord[]>;
  /** Takes the last record that the consumer has processed. */
  done(sequenceNumber: string): void;
  commits: Commits;
}

function follow(consumer: Consumer, handler: Handler, { read, done, commits }: Source) {
  const { operation, batchSize } = consumer;
  const over = new AbortController();
  const { signal } = over;
  let failures = 0;
  /** Time of the last look that found nothing, by `performance.now()`. */
  let lastEmpty = 0;

  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal }).catch(() => {});

  async function backOff(error: unknown) {
    if (failures === 0) console.error(`${operation} cannot read the stream and retries:`, error);
    await pause(Math.min(longestBackoff, 50 * 2 ** failures++));
  }

  async function deliver(records: DynamoDBRecord[]) {
    let left = records;
    while (left.length > 0 && !signal.aborted) {
      try {
        const next = firstFailed(left, await invoke(handler, operation, { Records: left }));
        if (next === 0) throw new Error('the first record failed');
        left = left.slice(next);
        failures = 0;
      } catch (error) {
        await backOff(error);
      }
    }
  }

  async function run() {
    let lastVersion: unknown;
    let found: Look | undefined;
    while (!signal.aborted) {
      try {
        const { version, time } = found ?? commits.look();
        found = undefined;
        const records = version === lastVersion ? [] : await read();
        failures = 0;
        const due = records.filter((record) => isFor(consumer, record) && hasChanged(record));
        for (const batch of chunks(due, batchSize)) await deliver(batch);
        if (signal.aborted) break;
        const last = records.at(-1)?.dynamodb?.SequenceNumber;
        if (last !== undefined) {
          done(last);
          continue;
        }
        lastVersion = version;
        lastEmpty = time;
        found = await commits.next();
      } catch (error) {
        await backOff(error);
      }
    }
  }

  const running = run();
  return {
    async idle() {
      const since = performance.now();
      while (lastEmpty < since && !signal.aborted) await pause(5);
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}

/** On AWS, a write that changes nothing makes no record. */
function hasChanged({ dynamodb, eventName }: DynamoDBRecord) {
  return eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.NewImage, dynamodb?.OldImage);
}

/** Index of the first failed record. An unknown id fails the whole batch, as on AWS. */
function firstFailed(records: readonly DynamoDBRecord[], result: unknown) {
  const failed = (result as DynamoDBBatchResponse | undefined)?.batchItemFailures ?? [];
  const indexes = failed.map(({ itemIdentifier }) =>
    records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  );
  return Math.max(0, Math.min(records.length, ...indexes));
}
