import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { type Consumer, isFor } from '../../shared/background.ts';
import { chunks } from '../../shared/chunks.ts';
import { clientOptions } from './database.ts';
import { engineRecords } from './engine-records.ts';
import { type Handler, invoke, type Load } from './invoke.ts';

/** The consumers at work. */
export interface Stream {
  /** Resolves when every consumer is done with all that was written before the call. */
  idle(): Promise<void>;
  /** Resolves when the batches at hand are done or given up; what is left is read again at the next start. */
  stop(): Promise<void>;
}

/** Records that are read at once, of which most are for nobody. */
const pageSize = 1000;
const pollInterval = 50;
const longestBackoff = 10_000;

/**
 * Feeds the table's stream to the consumers, each at its own pace and in order, as Lambda's event source mappings do: a
 * batch that fails is repeated from its first failed record until it succeeds. It reads all that the stream holds, so a
 * consumer meets some records again after a restart. Give `file`, the database, to forget what all are done with.
 */
export async function followStream(options: {
  endpoint: string;
  streamArn: string;
  consumers: readonly Consumer[];
  load: Load;
  file?: string;
}): Promise<Stream> {
  const { endpoint, streamArn, consumers, load, file } = options;
  // A missing file is told at the start, not at the first record.
  const handlers = await Promise.all(consumers.map(({ operation }) => load(operation)));
  const client = new DynamoDBStreamsClient({
    ...clientOptions(endpoint),
    maxAttempts: 1,
    // A database that hangs once must not hold the consumers up for good.
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 5_000,
      throwOnRequestTimeout: true,
    },
  });
  const records = file === undefined ? undefined : engineRecords(file);
  const positions = new Map(consumers.map(({ operation }) => [operation, 0]));

  const followers = consumers.map((consumer, i) =>
    follow(consumer, handlers[i] as Handler, {
      read: reader(client, streamArn),
      done(sequenceNumber) {
        positions.set(consumer.operation, Number(sequenceNumber));
        records?.removeBefore(Math.min(...positions.values()));
      },
      version: records?.version ?? (() => Symbol()),
    }),
  );
  return {
    async idle() {
      await Promise.all(followers.map((follower) => follower.idle()));
    },
    async stop() {
      await Promise.all(followers.map((follower) => follower.stop()));
      records?.close();
      client.destroy();
    },
  };
}

/** The stream as one consumer sees it. */
interface Source {
  /** The next records, or none at the end. */
  read(): Promise<StreamRecord[]>;
  /** Takes the last record that the consumer is through with. */
  done(sequenceNumber: string): void;
  /** As long as it is the same there is nothing new to read. */
  version(): unknown;
}

/** One consumer's loop. */
function follow(consumer: Consumer, handler: Handler, { read, done, version }: Source): Stream {
  const { operation, batchSize } = consumer;
  const over = new AbortController();
  const { signal } = over;
  let failures = 0;
  /** When it last looked and found nothing, by `performance.now()`. */
  let looked = 0;

  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal }).catch(() => {});

  async function backOff(error: unknown): Promise<void> {
    if (failures === 0)
      console.error(`${operation} cannot follow the stream, and tries on:`, error);
    await pause(Math.min(longestBackoff, 50 * 2 ** failures++));
  }

  async function deliver(records: DynamoDBRecord[]): Promise<void> {
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

  async function run(): Promise<void> {
    let seen: unknown;
    while (!signal.aborted) {
      const now = performance.now();
      try {
        const current = version();
        const records = current === seen ? [] : await read();
        failures = 0;
        const due = records.filter((record) => hasChanged(record) && isFor(consumer, record));
        for (const batch of chunks(due, batchSize)) await deliver(batch.map(toLambda));
        if (signal.aborted) break;
        const last = records.at(-1)?.dynamodb?.SequenceNumber;
        if (last !== undefined) {
          done(last);
          continue;
        }
        seen = current;
        looked = now;
        await pause(pollInterval);
      } catch (error) {
        await backOff(error);
      }
    }
  }

  const running = run();
  return {
    async idle() {
      const since = performance.now();
      while (looked < since && !signal.aborted) await pause(5);
    },
    async stop() {
      over.abort();
      await running;
    },
  };
}

/** Reads on at each call, whatever happened to the last one. Shards are read one after another, oldest first. */
function reader(client: DynamoDBStreamsClient, StreamArn: string): () => Promise<StreamRecord[]> {
  const finished = new Set<string>();
  let shard: string | undefined;
  let iterator: string | undefined;
  let last: string | undefined;

  async function open(): Promise<string | undefined> {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
    const ids = (StreamDescription?.Shards ?? []).map(({ ShardId = '' }) => ShardId);
    shard = ids.find((id) => !finished.has(id));
    if (shard === undefined) return undefined;
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({
        StreamArn,
        ShardId: shard,
        ...(last === undefined
          ? { ShardIteratorType: 'TRIM_HORIZON' }
          : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last }),
      }),
    );
    return ShardIterator;
  }

  return async () => {
    try {
      iterator ??= await open();
      if (iterator === undefined) return [];
      const { Records = [], NextShardIterator } = await client.send(
        new GetRecordsCommand({ ShardIterator: iterator, Limit: pageSize }),
      );
      iterator = NextShardIterator;
      last = Records.at(-1)?.dynamodb?.SequenceNumber ?? last;
      if (iterator === undefined && shard !== undefined) {
        finished.add(shard);
        last = undefined;
      }
      return Records;
    } catch (error) {
      // An iterator lives 15 minutes, and maybe less than the engine.
      iterator = undefined;
      if (error instanceof Error && error.name === 'TrimmedDataAccessException') last = undefined;
      throw error;
    }
  };
}

/** On AWS a write that changes nothing makes no record. */
function hasChanged({ dynamodb, eventName }: StreamRecord): boolean {
  return eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.NewImage, dynamodb?.OldImage);
}

/** As Lambda gives it: time in seconds, and the rest as DynamoDB says it (we store no binary attributes). */
function toLambda({ dynamodb, ...record }: StreamRecord): DynamoDBRecord {
  const created = dynamodb?.ApproximateCreationDateTime?.getTime();
  return {
    ...record,
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: created === undefined ? undefined : created / 1000,
    } as DynamoDBRecord['dynamodb'],
  };
}

/** Where to go on after a partial batch response; an id that is not in the batch fails all of it, as on AWS. */
function firstFailed(records: readonly DynamoDBRecord[], result: unknown): number {
  const failed = (result as DynamoDBBatchResponse | undefined)?.batchItemFailures ?? [];
  const indexes = failed.map(({ itemIdentifier }) =>
    records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === itemIdentifier),
  );
  return Math.max(0, Math.min(records.length, ...indexes));
}
