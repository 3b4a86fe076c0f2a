/** A stream that a test follows, in a database of its own for each test. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { clientOptions, type Database, startDatabase } from '../../infra/local/database.ts';
import { followStream, type Stream } from '../../infra/local/stream.ts';
import { createTable } from '../../infra/local/table.ts';
import { chunks } from '../../shared/chunks.ts';
import { silenceAll } from './console.ts';

type Consume = (event: DynamoDBStreamEvent) => unknown;

export const TableName = 'reviews';
export const logged = silenceAll('error');

let folder: string;
export let file: string;
export let database: Database;
export let streamArn: string;
export let table: DynamoDBDocumentClient;
let stream: Stream | undefined;

beforeEach(async () => {
  // In memory, where a write does not wait for the disk.
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  folder = mkdtempSync(join(memory, 'stream-test-'));
  file = join(folder, 'dynamodb.sqlite');
  await start();
});

afterEach(async () => {
  await stopFollowing();
  await stopDatabase();
  rmSync(folder, { recursive: true });
});

export async function start(): Promise<void> {
  database = await startDatabase({ file });
  ({ streamArn } = await createTable(database.endpoint, TableName));
  table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(database.endpoint)));
}

export async function stopDatabase(): Promise<void> {
  table.destroy();
  await database.stop();
}

/** Stops the stream, if a test follows one. */
export async function stopFollowing(): Promise<void> {
  await stream?.stop();
  stream = undefined;
}

/** A consumer of reviews. */
export function consumerOf(operation: string) {
  return { operation, records: [{ sortKeys: ['REVIEW'] }], batchSize: 100 };
}

/** Follows the stream of the database's file, or of another DynamoDB at `other`. */
export async function followAll(
  handlers: Record<string, Consume>,
  other?: string,
): Promise<Stream> {
  const consumers = Object.keys(handlers).map(consumerOf);
  const load = async (operation: string) => (event: unknown) =>
    handlers[operation]?.(event as DynamoDBStreamEvent);
  const where = other === undefined ? { endpoint: database.endpoint, file } : { endpoint: other };
  stream = await followStream({ ...where, streamArn, consumers, load });
  return stream;
}

/** Follows the stream with one consumer, as `followAll` does. */
export function follow(consume: Consume, other?: string): Promise<Stream> {
  return followAll({ 'update-aggregates': consume }, other);
}

/** A consumer that notes the names of what it has seen. */
export function noteIn(seen: string[]): Consume {
  return ({ Records }) => void seen.push(...namesIn(Records));
}

export async function put(pk: string, sk = 'REVIEW', rating = 1): Promise<void> {
  await table.send(new PutCommand({ TableName, Item: { pk, sk, rating } }));
}

export async function putMany(count: number, from = 0): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `n${from + i}`);
  for (const name of names) await put(name);
  return names;
}

/** Puts many items in few commands, in any order. */
export async function putBatches(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `m${i}`);
  for (const some of chunks(names, 25)) {
    const puts = some.map((pk) => ({ PutRequest: { Item: { pk, sk: 'REVIEW', rating: 1 } } }));
    await table.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
  }
  return names;
}

export function namesIn(records: DynamoDBRecord[]): string[] {
  return records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? '');
}

export function records(): number {
  const engine = new DatabaseSync(file, { readOnly: true });
  const [row] = engine.prepare('SELECT count(*) AS n FROM _stream_records').all();
  engine.close();
  return Number(row?.n);
}
