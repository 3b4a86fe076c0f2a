import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { type Consumer, isFor } from '../../../shared/base/background/consumer.ts';
import { chunks } from '../../../shared/base/chunks.ts';
import { type Handler, invoke, type Load } from '../invoke.ts';
import type { RecordSource } from './record-source.ts';

export interface Stream {
  /** Resolves when every consumer has processed all that was written before the call. */
  idle(): Promise<void>;
  /** Resolves when current batches are done or given up. The next start reads the rest again. */
  stop(): Promise<void>;
}

const longestBackoff = 10_000;

/** In milliseconds, between two deletions of processed records. */
const deletionInterval = 1_000;

/**
 * Feeds the records of a source to the consumers, each at its own pace and in order, as event
 * source mappings of Lambda do. A failed batch is retried from its first failed record until it
 * succeeds. Reading starts at the oldest record, so a consumer gets some records again after a
 * restart.
 */
export async function followStream({
  source,
  consumers,
  load,
}: {
  source: RecordSource;
  consumers: readonly Consumer[];
  load: Load;
}): Promise<Stream> {
  // Loaded here, so that a missing file fails the start and not the first record.
  const handlers = await Promise.all(consumers.map(({ operation }) => load(operation)));
  const positions = new Map(consumers.map(({ operation }) => [operation, 0]));
  let lastDeletion = 0;

  async function forget(now?: 'now'): Promise<void> {
    const time = performance.now();
    if (!now && time - lastDeletion < deletionInterval) return;
    lastDeletion = time;
    try {
      await source.processed(Math.min(...positions.values()));
    } catch (error) {
      // The next deletion includes these records.
      console.error('Processed records could not be deleted:', error);
    }
  }

  const followers = consumers.map((consumer, i) =>
    follow(consumer, handlers[i] as Handler, source, async (number) => {
      positions.set(consumer.operation, number);
      await forget();
    }),
  );
  return {
    async idle() {
      await Promise.all(followers.map((follower) => follower.idle()));
      await forget('now');
    },
    async stop() {
      const stopped = Promise.all(followers.map((follower) => follower.stop()));
      source.wake();
      await stopped;
      await forget('now');
    },
  };
}

function follow(
  consumer: Consumer,
  handler: Handler,
  source: RecordSource,
  done: (number: number) => Promise<void>,
) {
  const { operation, batchSize } = consumer;
  const read = source.open();
  const over = new AbortController();
  const { signal } = over;
  let failures = 0;
  /** Time of the last read that found nothing, by `performance.now()`. */
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
    while (!signal.aborted) {
      try {
        const time = performance.now();
        const version = source.version();
        const records = await read();
        failures = 0;
        const due = records.filter((record) => isFor(consumer, record));
        for (const batch of chunks(due, batchSize)) await deliver(batch);
        if (signal.aborted) break;
        const last = records.at(-1)?.dynamodb?.SequenceNumber;
        if (last !== undefined) {
          await done(Number(last));
          continue;
        }
        lastEmpty = time;
        await source.next(version);
      } catch (error) {
        await backOff(error);
      }
    }
  }

  const running = run();
  return {
    async idle() {
      const since = performance.now();
      while (lastEmpty < since && !signal.aborted) {
        source.wake();
        await pause(5);
      }
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}

/** Index of the first failed record. An unknown id fails the whole batch, as on AWS. */
function firstFailed(records: readonly DynamoDBRecord[], result: unknown) {
  const failed = (result as DynamoDBBatchResponse | undefined)?.batchItemFailures ?? [];
  const indexes = failed.map(({ itemIdentifier }) =>
    records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  );
  return Math.max(0, Math.min(records.length, ...indexes));
}
