import {
  DynamoDBClient,
  type StreamSpecification,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../../infra/local/database.ts';
import { openRecordLog } from '../../../infra/local/record-log.ts';
import {
  database,
  file,
  follow,
  namesIn,
  noteIn,
  put,
  putBatches,
  putMany,
  records,
  TableName,
  table,
} from '../../helpers/followed-stream.ts';

/** Reads all records. Returns them read by read. */
async function readAll() {
  const records = openRecordLog(file, TableName);
  const read = records.open();
  const reads = [];
  for (let page = await read(); page.length > 0; page = await read()) reads.push(page);
  records.close();
  return reads;
}

/** Writes an item of so many attributes and bytes, and then changes it so many times. */
async function writeLarge(pk: string, { attributes = 1, bytes = 390_000, changes = 0 }) {
  const value = 'x'.repeat(bytes / attributes - 10);
  const large = Object.fromEntries(Array.from({ length: attributes }, (_, i) => [`a${i}`, value]));
  await table.send(new PutCommand({ TableName, Item: { pk, sk: 'REVIEW', n: 0, ...large } }));
  const update = new UpdateCommand({
    TableName,
    Key: { pk, sk: 'REVIEW' },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': 1 },
  });
  for (let i = 0; i < changes; i++) await table.send(update);
}

test('one read has at most 1,000 records', async () => {
  const names = await putBatches(1005);
  const reads = await readAll();
  expect(reads.map((page) => page.length)).toEqual([1000, 5]);
  expect(reads.flatMap(namesIn).sort()).toEqual(names.sort());
});

test('one read has at most 1 MB of images', async () => {
  // An insert has one image of 300 KB, a change has two.
  await writeLarge('a', { bytes: 300_000 });
  await writeLarge('b', { bytes: 300_000 });
  await writeLarge('c', { bytes: 300_000, changes: 3 });
  const reads = await readAll();
  expect(reads.map((page) => page.length)).toEqual([3, 1, 1, 1]);
});

test('one read has a record, even if that alone is larger', async () => {
  await writeLarge('a', { attributes: 20_000, changes: 2 });
  await put('b');
  const reads = await readAll();
  expect(reads.map((page) => page.length)).toEqual([1, 1, 1, 1]);
  expect(reads.flatMap(namesIn)).toEqual(['a', 'a', 'a', 'b']);
  expect(reads.at(2)?.[0]?.dynamodb?.OldImage?.n).toEqual({ N: '1' });
});

test('follows a backlog of the largest records, and answers meanwhile', async () => {
  await writeLarge('a', { attributes: 10_000, changes: 30 });
  await put('b');
  const seen: string[] = [];
  const { idle } = await follow(noteIn(seen));
  let isOver = false;
  const over = idle().then(() => {
    isOver = true;
  });
  const waits = [];
  const start = performance.now();
  while (!isOver) {
    const begin = performance.now();
    await put('c', 'OTHER');
    waits.push(performance.now() - begin);
  }
  await over;
  expect(seen.filter((name) => name === 'a')).toHaveLength(31);
  expect(seen.at(-1)).toBe('b');
  // One read by GetRecords of all 31 takes most of the time, and the engine answers nobody else.
  expect(Math.max(...waits)).toBeLessThan((performance.now() - start) / 2);
});

/** Opens the records for two readers, and a watcher of the changes. */
function openForTwo() {
  const log = openRecordLog(file, TableName);
  const noticed: (string[] | undefined)[] = [];
  log.watch((found) => noticed.push(found && namesIn(found)));
  return { log, noticed, readers: [log.open(), log.open()] as const };
}

test('all readers share a record, and parse it once', async () => {
  await putMany(30);
  const parsed = jest.spyOn(JSON, 'parse');
  const { log, readers } = openForTwo();
  const [first, second] = await Promise.all(readers.map((read) => read()));
  expect(second?.map(({ eventID }) => eventID)).toEqual(first?.map(({ eventID }) => eventID));
  // The keys only. No reader has asked for an image.
  expect(parsed).toHaveBeenCalledTimes(30);
  for (const page of [first, second]) {
    expect(page?.[3]?.dynamodb?.NewImage?.rating).toEqual({ N: '1' });
  }
  expect(parsed).toHaveBeenCalledTimes(31);
  parsed.mockRestore();
  log.close();
});

test('a reader that lags behind what is held misses nothing', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await writeLarge(name, { changes: 2 });
  await put('e');
  const { log, readers } = openForTwo();
  const seen: [string[], string[]] = [[], []];
  // The first reader reads 8 MB, while the second has not begun.
  for (const [i, read] of readers.entries()) {
    for (let page = await read(); page.length > 0; page = await read()) {
      seen[i]?.push(...namesIn(page));
    }
  }
  await put('f');
  for (const [i, read] of readers.entries()) seen[i]?.push(...namesIn(await read()));
  expect(seen[0]).toEqual([...'aaabbbcccddd', 'e', 'f']);
  expect(seen[1]).toEqual(seen[0]);
  log.close();
});

test('a watcher hears of each record once, whoever reads first', async () => {
  await put('old');
  const { log, noticed, readers } = openForTwo();
  log.look();
  await put('a');
  log.look();
  await put('b');
  await readers[0]();
  await readers[0]();
  log.look();
  await put('c');
  await readers[0]();
  log.look();
  // What was committed before the first look is unknown.
  expect(noticed).toEqual([undefined, ['a'], ['b'], ['c']]);
  log.close();
});

test('a watcher is told that it may miss something after a commit without a record', async () => {
  await put('old');
  const { log, noticed } = openForTwo();
  const look = () => {
    log.look();
    return noticed.splice(0);
  };
  look();
  await put('a');
  look();
  const client = new DynamoDBClient(clientOptions(database.endpoint));
  const set = (StreamSpecification: StreamSpecification) =>
    client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
  await set({ StreamEnabled: false });
  await put('unseen');
  expect(look()).toEqual([undefined]);
  await put('unseen');
  await set({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
  await put('b');
  expect(look()).toEqual([undefined]);
  await put('c');
  expect(look()).toEqual([['c']]);
  client.destroy();
  log.close();
});

test('a watcher is told so in a backlog as well, and reads no further than the consumers', async () => {
  await put('old');
  const { log, noticed, readers } = openForTwo();
  log.look();
  await readers[0]();
  await putBatches(1_100);
  const parsed = jest.spyOn(JSON, 'parse');
  noticed.length = 0;
  for (const _ of [1, 2, 3]) log.look();
  expect(noticed).toEqual([undefined, undefined, undefined]);
  expect(parsed).toHaveBeenCalledTimes(1_000);
  parsed.mockRestore();
  const seen = [];
  for (let page = await readers[1](); page.length > 0; page = await readers[1]()) {
    seen.push(...namesIn(page));
  }
  expect(seen).toHaveLength(1_101);
  log.look();
  await put('new');
  log.look();
  expect(noticed.at(-1)).toEqual(['new']);
  log.close();
});

test('deletes what all consumers have processed, once a second', async () => {
  const { log, readers } = openForTwo();
  await putMany(10);
  await readers[0]();
  log.processed(4);
  expect(records()).toBe(7);
  log.processed(8);
  expect(records()).toBe(7);
  log.processed(8, 'now');
  expect(records()).toBe(3);
  log.close();
});
