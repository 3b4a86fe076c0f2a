import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { handler as eraser } from '../../functions/background/eraser.ts';
import { handler as updateAggregates } from '../../functions/background/update-aggregates.ts';
import { recordOf } from '../../infra/local/storage/change-records.ts';
import { isFor } from '../../shared/base/background/consumer.ts';
import { tableName } from '../../shared/base/table/client.ts';
import type { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { consumers } from '../../shared/features/background.ts';
import { heartbeatKey } from '../../shared/features/health/heartbeat.ts';
import { sqlite } from './table.ts';

let client: DynamoDBStreamsClient | undefined;
let iterator: string | undefined;
/** The last change that was read, by storage. */
const positions = new WeakMap<SqliteStorage, number>();

/** The records of the table's stream that nobody has asked for yet, as Lambda gives them. */
export function readStream(): Promise<DynamoDBRecord[]> {
  return sqlite ? readChanges(sqlite) : readRecords();
}

async function readChanges(storage: SqliteStorage): Promise<DynamoDBRecord[]> {
  const records: DynamoDBRecord[] = [];
  for (;;) {
    const changes = await storage.changes.after(positions.get(storage) ?? 0);
    const last = changes.at(-1);
    if (last === undefined) return records;
    positions.set(storage, last.number);
    records.push(...changes.map(recordOf));
  }
}

async function readRecords(): Promise<DynamoDBRecord[]> {
  client ??= new DynamoDBStreamsClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
  iterator ??= await openStream(client);
  const records: DynamoDBRecord[] = [];
  for (;;) {
    const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator }));
    iterator = page.NextShardIterator ?? iterator;
    if (!page.Records?.length) break;
    records.push(...page.Records.map(toLambda));
  }
  // The emulator also reports writes that change nothing; AWS does not.
  return records.filter(
    ({ eventName, dynamodb }) =>
      eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.OldImage, dynamodb?.NewImage),
  );
}

/** Lambda tells times in seconds. */
function toLambda({ dynamodb, ...record }: StreamRecord): DynamoDBRecord {
  const made = Number(dynamodb?.ApproximateCreationDateTime) / 1000;
  return {
    ...record,
    dynamodb: { ...dynamodb, ApproximateCreationDateTime: made },
  } as DynamoDBRecord;
}

/** Lets the consumers do what is left for them to do, and what they do every minute. */
export async function applyStream(): Promise<void> {
  await applyRecords();
  const { pk, sk } = heartbeatKey;
  const beat = { dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } };
  await updateAggregates({ Records: [beat] });
  await applyRecords();
}

/** Lets the consumers of the table's stream do what is left for them to do at once. */
export async function applyRecords(): Promise<void> {
  const handlers: Record<string, (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>> = {
    'update-aggregates': updateAggregates,
    eraser,
  };
  for (let records = await readStream(); records.length > 0; records = await readStream()) {
    for (const consumer of consumers) {
      const due = records.filter((record) => isFor(consumer, record));
      for (let start = 0; start < due.length; start += consumer.batchSize) {
        const batch = { Records: due.slice(start, start + consumer.batchSize) };
        const result = await handlers[consumer.operation]?.(batch);
        if (result?.batchItemFailures.length !== 0) throw new Error(`${consumer.operation} failed`);
      }
    }
  }
}

/** Lets the consumers follow the stream while something runs. */
export async function followStream<T>(run: () => Promise<T>): Promise<T> {
  let isOver = false;
  const following = (async () => {
    while (!isOver) {
      await applyStream();
      await sleep(20);
    }
  })();
  try {
    return await run();
  } finally {
    isOver = true;
    await following;
  }
}

async function openStream(client: DynamoDBStreamsClient): Promise<string | undefined> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName() }));
  const StreamArn = Streams[0]?.StreamArn;
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  return ShardIterator;
}
