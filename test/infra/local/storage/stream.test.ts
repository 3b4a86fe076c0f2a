import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { clientOptions } from '../../../../infra/local/storage/dynamodb.ts';
import { changesOf, streamOf } from '../../../../infra/local/storage/record-source.ts';
import { followStream } from '../../../../infra/local/storage/stream.ts';
import { createTable } from '../../../../infra/local/storage/table.ts';
import { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { startEmulator } from '../../../helpers/emulator.ts';
import { newFolder } from '../../../helpers/folder.ts';
import {
  consumerOf,
  file,
  follow,
  followAll,
  logged,
  namesIn,
  noteIn,
  open,
  put,
  putMany,
  records,
  stopFollowing,
  storage,
} from '../../../helpers/followed-stream.ts';

const Keys = { pk: { S: 'a' }, sk: { S: 'REVIEW' } };
const one = { ...Keys, rating: { N: '1' } };
const two = { ...Keys, rating: { N: '2' } };
const time = { ApproximateCreationDateTime: expect.any(Number) };
/** The records of an item that is put, changed and deleted, as Lambda has them. */
const threeRecords = [
  { eventName: 'INSERT', eventSource: 'aws:dynamodb', dynamodb: { Keys, NewImage: one, ...time } },
  { eventName: 'MODIFY', dynamodb: { Keys, OldImage: one, NewImage: two } },
  { eventName: 'REMOVE', dynamodb: { Keys, OldImage: two } },
];

test('delivers the changes that a consumer reads, as Lambda does', async () => {
  const seen: DynamoDBRecord[] = [];
  const { idle } = await follow(({ Records }) => void seen.push(...Records));
  await put('a');
  await put('a', 'VOTE#1');
  await put('a');
  await put('a', 'REVIEW', 2);
  await storage.write([{ delete: { pk: 'a', sk: 'REVIEW' } }]);
  await idle();
  expect(seen).toMatchObject(threeRecords);
});

describe('another DynamoDB', () => {
  test('is followed through all of its reads, and a pause', async () => {
    const emulator = await startEmulator(join(newFolder(), 'emulator.sqlite'));
    const { endpoint, pid } = emulator;
    const TableName = 'reviews';
    const { streamArn } = await createTable(endpoint, TableName);
    const table = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(endpoint)));
    const putItem = (pk: string, sk = 'REVIEW', rating = 1) =>
      table.send(new PutCommand({ TableName, Item: { pk, sk, rating } }));
    const seen: DynamoDBRecord[] = [];
    const source = streamOf(endpoint, streamArn);
    const { idle } = await follow(({ Records }) => void seen.push(...Records), source);
    await putItem('a');
    await putItem('a', 'VOTE#1');
    await putItem('a');
    await putItem('a', 'REVIEW', 2);
    await table.send(new DeleteCommand({ TableName, Key: { pk: 'a', sk: 'REVIEW' } }));
    await idle();
    expect(seen).toMatchObject(threeRecords);
    const names = Array.from({ length: 1005 }, (_, i) => `n${i}`);
    for (const name of names) await putItem(name);
    process.kill(pid, 'SIGSTOP');
    await sleep(400);
    process.kill(pid, 'SIGCONT');
    await putItem('last');
    await idle();
    expect(namesIn(seen.slice(3))).toEqual([...names, 'last']);
    await stopFollowing();
    table.destroy();
    await emulator.stop();
  });
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
  expect(records()).toBe(0);
});

test('deletes processed records, and the numbering continues', async () => {
  const numbers: number[] = [];
  const { idle } = await follow(({ Records }) => {
    numbers.push(...Records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber)));
  });
  for (let from = 0; from < 60; from += 20) {
    await putMany(20, from);
    await idle();
    expect(records()).toBe(0);
  }
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test('writes never fail while records are removed', async () => {
  const { idle } = await follow(() => undefined);
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => put(`${round}-${i}`)));
  }
  await idle();
  expect(records()).toBe(0);
});

test('resumes after a restart with everything unprocessed', async () => {
  const before: string[] = [];
  const { idle } = await follow(noteIn(before));
  const names = await putMany(30);
  await idle();
  await stopFollowing();
  names.push(...(await putMany(120, 30)));
  storage.close();
  open();

  const after: string[] = [];
  await (await follow(noteIn(after))).idle();
  expect([...before, ...after]).toEqual(names);
});

test('sees the writes of another process within a second', async () => {
  const seen: string[] = [];
  const { idle } = await follow(noteIn(seen));
  await idle();
  const other = new SqliteStorage(file, { durability: 'unsynced' });
  await other.write([{ put: { pk: 'of another', sk: 'REVIEW' } }]);
  const deadline = Date.now() + 1_000;
  while (seen.length < 1 && Date.now() < deadline) await sleep(5);
  other.close();
  expect(seen).toEqual(['of another']);
});

test('stops during a failure, and loses nothing', async () => {
  const names = await putMany(3);
  await follow(() => Promise.reject(new Error('never')));
  await stopFollowing();
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

test('refuses to start without a consumer', async () => {
  const load = () => Promise.reject(new Error('functions/update-aggregates.ts is missing'));
  const consumers = [consumerOf('update-aggregates')];
  const source = changesOf(storage);
  const start = followStream({ source, consumers, load });
  await expect(start).rejects.toThrow('functions/update-aggregates.ts is missing');
  source.close();
});
