import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { clientOptions, type Database, startDatabase } from '../../../infra/local/database.ts';
import { followStream, type Stream } from '../../../infra/local/stream.ts';
import { createTable } from '../../../infra/local/table.ts';
import { listen } from '../../helpers/listen.ts';

type Consume = (event: DynamoDBStreamEvent) => unknown;

const TableName = 'reviews';
const logged = jest.spyOn(console, 'error').mockImplementation(() => {});

let folder: string;
let file: string;
let database: Database;
let streamArn: string;
let table: DynamoDBDocumentClient;
let stream: Stream | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stream-test-'));
  file = join(folder, 'dynamodb.sqlite');
  await start();
  logged.mockClear();
});

afterEach(async () => {
  await stream?.stop();
  stream = undefined;
  await stopDatabase();
  rmSync(folder, { recursive: true });
});

async function start(): Promise<void> {
  database = await startDatabase({ file });
  streamArn = await createTable(database.endpoint, TableName);
  table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(database.endpoint)));
}

async function stopDatabase(): Promise<void> {
  table.destroy();
  await database.stop();
}

/** A consumer of reviews. */
function consumerOf(operation: string) {
  return { operation, records: [{ sortKeys: ['REVIEW'] }], batchSize: 100 };
}

async function followAll(
  handlers: Record<string, Consume>,
  endpoint = database.endpoint,
): Promise<Stream> {
  const consumers = Object.keys(handlers).map(consumerOf);
  const load = async (operation: string) => (event: unknown) =>
    handlers[operation]?.(event as DynamoDBStreamEvent);
  stream = await followStream({ endpoint, streamArn, file, consumers, load });
  return stream;
}

/** Follows the stream with one consumer. */
function follow(consume: Consume, endpoint?: string): Promise<Stream> {
  return followAll({ 'update-aggregates': consume }, endpoint);
}

/** A consumer that notes the names of what it has seen. */
function noteIn(seen: string[]): Consume {
  return ({ Records }) => void seen.push(...namesIn(Records));
}

async function put(pk: string, sk = 'REVIEW', rating = 1): Promise<void> {
  await table.send(new PutCommand({ TableName, Item: { pk, sk, rating } }));
}

async function putMany(count: number, from = 0): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `n${from + i}`);
  for (const name of names) await put(name);
  return names;
}

function namesIn(records: DynamoDBRecord[]): string[] {
  return records.map(({ dynamodb }) => dynamodb?.Keys?.pk?.S ?? '');
}

function records(): number {
  const engine = new DatabaseSync(file, { readOnly: true });
  const [row] = engine.prepare('SELECT count(*) AS n FROM _stream_records').all();
  engine.close();
  return Number(row?.n);
}

test('delivers the changes subscribed to, as Lambda does', async () => {
  const seen: DynamoDBRecord[] = [];
  const { idle } = await follow(({ Records }) => void seen.push(...Records));
  await put('a');
  await put('a', 'VOTE#1');
  await put('a');
  await put('a', 'REVIEW', 2);
  await table.send(new DeleteCommand({ TableName, Key: { pk: 'a', sk: 'REVIEW' } }));
  await idle();

  const Keys = { pk: { S: 'a' }, sk: { S: 'REVIEW' } };
  const one = { ...Keys, rating: { N: '1' } };
  const two = { ...Keys, rating: { N: '2' } };
  const numbered = { SequenceNumber: '1', ApproximateCreationDateTime: expect.any(Number) };
  const inserted = { Keys, NewImage: one, ...numbered };
  expect(seen).toMatchObject([
    { eventName: 'INSERT', eventSource: 'aws:dynamodb', dynamodb: inserted },
    { eventName: 'MODIFY', dynamodb: { Keys, OldImage: one, NewImage: two } },
    { eventName: 'REMOVE', dynamodb: { Keys, OldImage: two } },
  ]);
});

test('keeps the order, in batches of up to 100', async () => {
  const names = await putMany(250);
  const batches: string[][] = [];
  const { idle } = await follow(({ Records }) => void batches.push(namesIn(Records)));
  await idle();
  expect(batches.map((batch) => batch.length)).toEqual([100, 100, 50]);
  expect(batches.flat()).toEqual(names);
});

test('repeats a batch that throws, and logs it once', async () => {
  const names = await putMany(3);
  let attempts = 0;
  const seen: string[] = [];
  const { idle } = await follow((event) => {
    if (++attempts <= 3) throw new Error('not yet');
    noteIn(seen)(event);
  });
  await idle();
  expect(seen).toEqual(names);
  expect(logged).toHaveBeenCalledTimes(1);
});

test('resumes from the first record that failed', async () => {
  const names = await putMany(6);
  const batches: string[][] = [];
  const { idle } = await follow(({ Records }) => {
    batches.push(namesIn(Records));
    const failed = batches.length > 2 ? [] : [...Records.slice(4), ...Records.slice(2, 3)];
    const ids = failed.map(({ dynamodb }) => dynamodb?.SequenceNumber);
    return { batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) };
  });
  await idle();
  expect(batches).toEqual([names, names.slice(2), names.slice(4)]);
});

test('treats an unknown record id as a failure of the whole batch', async () => {
  const names = await putMany(2);
  const batches: string[][] = [];
  const { idle } = await follow(({ Records }) => {
    batches.push(namesIn(Records));
    return { batchItemFailures: batches.length > 1 ? [] : [{ itemIdentifier: '99' }] };
  });
  await idle();
  expect(batches).toEqual([names, names]);
});

test('lets no consumer wait for another, and keeps unread records', async () => {
  const names = await putMany(150);
  const fed: string[] = [];
  let broken = true;
  const erased: string[] = [];
  const { idle } = await followAll({
    'update-aggregates': noteIn(fed),
    eraser: (event) => {
      if (broken) throw new Error('not yet');
      noteIn(erased)(event);
    },
  });
  while (fed.length < names.length) await sleep(10);
  expect(records()).toBe(150);
  broken = false;
  await idle();
  expect(fed).toEqual(names);
  expect(erased).toEqual(names);
  expect(records()).toBe(1);
});

test('deletes processed records, and the numbering continues', async () => {
  const numbers: number[] = [];
  const { idle } = await follow(({ Records }) => {
    numbers.push(...Records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber)));
  });
  for (let from = 0; from < 60; from += 20) {
    await putMany(20, from);
    await idle();
    expect(records()).toBe(1);
  }
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test('writes never fail while records are removed', async () => {
  const { idle } = await follow(() => undefined);
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => put(`${round}-${i}`)));
  }
  await idle();
  expect(records()).toBe(1);
});

test('resumes after a restart with everything unprocessed', async () => {
  const before: string[] = [];
  const { idle } = await follow(noteIn(before));
  const names = await putMany(30);
  await idle();
  await stream?.stop();
  names.push(...(await putMany(120, 30)));
  await stopDatabase();
  await start();

  const after: string[] = [];
  await (await follow(noteIn(after))).idle();
  // The last processed record is kept for the numbering, so it repeats.
  expect(after).toEqual(names.slice(29));
  expect([...before, ...after.slice(1)]).toEqual(names);
});

test('stops during a failure, and loses nothing', async () => {
  const names = await putMany(3);
  await follow(() => Promise.reject(new Error('never')));
  await stream?.stop();
  expect(records()).toBe(3);

  const seen: string[] = [];
  await (await follow(noteIn(seen))).idle();
  expect(seen).toEqual(names);
});

test('notices a write by itself', async () => {
  const seen: string[] = [];
  const { idle } = await follow(noteIn(seen));
  await idle();
  await put('unannounced');
  const deadline = Date.now() + 5_000;
  while (seen.length < 1 && Date.now() < deadline) await sleep(5);
  expect(seen).toEqual(['unannounced']);
});

test('survives a pause of the engine', async () => {
  const seen: string[] = [];
  const { idle } = await follow(noteIn(seen));
  await put('a');
  await idle();
  process.kill(database.pid, 'SIGSTOP');
  await sleep(400);
  process.kill(database.pid, 'SIGCONT');
  await put('b');
  await idle();
  expect(seen).toEqual(['a', 'b']);
});

test('survives requests that are never answered', async () => {
  let isHanging = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const { hostname, port } = new URL(database.endpoint);
    const onward = connect(Number(port), hostname);
    socket.on('data', (bytes) => isHanging || onward.write(bytes));
    onward.on('data', (bytes) => socket.write(bytes));
    for (const each of [socket, onward]) sockets.add(each.on('error', () => {}));
  });
  const endpoint = await listen(proxy);
  try {
    const seen: string[] = [];
    const { idle } = await follow(noteIn(seen), endpoint);
    await idle();
    const asked = new Promise((resolve) => {
      for (const socket of sockets) socket.once('data', resolve);
    });
    isHanging = true;
    await put('a');
    await asked;
    isHanging = false;
    await idle();
    expect(seen).toEqual(['a']);
  } finally {
    await stream?.stop();
    stream = undefined;
    for (const socket of sockets) socket.destroy();
    proxy.close();
  }
});

test('refuses to start without a consumer', async () => {
  const load = () => Promise.reject(new Error('functions/update-aggregates.ts is missing'));
  const consumers = [consumerOf('update-aggregates')];
  const start = followStream({ endpoint: database.endpoint, streamArn, consumers, load });
  await expect(start).rejects.toThrow('functions/update-aggregates.ts is missing');
});
