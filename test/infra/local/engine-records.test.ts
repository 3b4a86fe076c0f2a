import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { engineRecords } from '../../../infra/local/engine-records.ts';
import {
  file,
  follow,
  namesIn,
  noteIn,
  put,
  putMany,
  TableName,
  table,
} from '../../helpers/followed-stream.ts';

/** Reads all records. Returns them read by read. */
async function readAll(): Promise<DynamoDBRecord[][]> {
  const records = engineRecords(file, TableName);
  const read = records.open();
  const reads: DynamoDBRecord[][] = [];
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
  const names = await putMany(1005);
  const reads = await readAll();
  expect(reads.map((page) => page.length)).toEqual([1000, 5]);
  expect(reads.flatMap(namesIn)).toEqual(names);
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
  const waits: number[] = [];
  while (!isOver) {
    const begin = performance.now();
    await put('c', 'OTHER');
    waits.push(performance.now() - begin);
  }
  await over;
  expect(seen.filter((name) => name === 'a')).toHaveLength(31);
  expect(seen.at(-1)).toBe('b');
  // One read by GetRecords of all 31 takes seconds, and the engine answers nobody else.
  expect(Math.max(...waits)).toBeLessThan(1_000);
});
