import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { followStream } from '../../../infra/local/stream.ts';
import {
  consumerOf,
  database,
  follow,
  followAll,
  logged,
  namesIn,
  noteIn,
  put,
  putMany,
  records,
  start,
  stopDatabase,
  stopFollowing,
  streamArn,
  TableName,
  table,
} from '../../helpers/followed-stream.ts';

test.each([
  ['the embedded database', () => undefined],
  ['another DynamoDB', () => database.endpoint],
])('delivers the changes of %s subscribed to, as Lambda does', async (_, other) => {
  const seen: DynamoDBRecord[] = [];
  const { idle } = await follow(({ Records }) => void seen.push(...Records), other());
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

test('follows another DynamoDB through all of its reads, and a pause', async () => {
  const names = await putMany(1005);
  const seen: string[] = [];
  const { idle } = await follow(noteIn(seen), database.endpoint);
  await idle();
  process.kill(database.pid, 'SIGSTOP');
  await sleep(400);
  process.kill(database.pid, 'SIGCONT');
  await put('last');
  await idle();
  expect(seen).toEqual([...names, 'last']);
});

test('resumes after a restart with everything unprocessed', async () => {
  const before: string[] = [];
  const { idle } = await follow(noteIn(before));
  const names = await putMany(30);
  await idle();
  await stopFollowing();
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

test('refuses to start without a consumer', async () => {
  const load = () => Promise.reject(new Error('functions/update-aggregates.ts is missing'));
  const consumers = [consumerOf('update-aggregates')];
  const start = followStream({ endpoint: database.endpoint, streamArn, consumers, load });
  await expect(start).rejects.toThrow('functions/update-aggregates.ts is missing');
});
