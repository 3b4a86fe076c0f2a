/** The changes of a table that a test follows, in a file of its own for each test. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { changesOf, type RecordSource } from '../../infra/local/storage/record-source.ts';
import { followStream, type Stream } from '../../infra/local/storage/stream.ts';
import { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { silenceAll } from './console.ts';
import { newFolder } from './folder.ts';

type Consume = (event: DynamoDBStreamEvent) => unknown;

export const logged = silenceAll('error');

export let file: string;
export let storage: SqliteStorage;
let stream: Stream | undefined;
let followed: RecordSource | undefined;

beforeEach(() => {
  file = join(newFolder(), 'reviews.sqlite');
  open();
});

afterEach(async () => {
  await stopFollowing();
  storage.close();
});

/** Opens the file, as a new process does. */
export function open(): void {
  storage = new SqliteStorage(file, { durability: 'unsynced' });
}

/** Stops the stream, if a test follows one. */
export async function stopFollowing(): Promise<void> {
  await stream?.stop();
  followed?.close();
  stream = undefined;
  followed = undefined;
}

/** A consumer of reviews. */
export function consumerOf(operation: string) {
  return {
    operation,
    table: 'write' as const,
    records: [{ sortKeys: ['REVIEW'] }],
    batchSize: 100,
  };
}

/** Follows the changes of the file, or another source. */
export async function followAll(
  handlers: Record<string, Consume>,
  source: RecordSource = changesOf(storage),
): Promise<Stream> {
  const consumers = Object.keys(handlers).map(consumerOf);
  const load = async (operation: string) => (event: unknown) =>
    handlers[operation]?.(event as DynamoDBStreamEvent);
  followed = source;
  stream = await followStream({ source, consumers, load });
  return stream;
}

/** Follows with one consumer, as `followAll` does. */
export function follow(consume: Consume, source?: RecordSource): Promise<Stream> {
  return followAll({ 'update-aggregates': consume }, source);
}

/** A consumer that notes the names of what it has seen. */
export function noteIn(seen: string[]): Consume {
  return ({ Records }) => void seen.push(...namesIn(Records));
}

export async function put(pk: string, sk = 'REVIEW', rating = 1): Promise<void> {
  await storage.write([{ put: { pk, sk, rating } }]);
}

export async function putMany(count: number, from = 0): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `n${from + i}`);
  for (const name of names) await put(name);
  return names;
}

export function namesIn(records: DynamoDBRecord[]): string[] {
  return records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? '');
}

/** The number of changes that are kept. */
export function records(): number {
  const reader = new DatabaseSync(file, { readOnly: true });
  const row = reader.prepare('SELECT count(*) AS n FROM change').get();
  reader.close();
  return Number(row?.n);
}
