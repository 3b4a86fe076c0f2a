import { DeleteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { type Expiry, expiryOf } from '../../../infra/local/expire.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import { tableName } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/item.ts';
import { scanTable, setAttributes } from '../../helpers/fixtures.ts';

const now = Math.floor(Date.now() / 1000);
let expiry: Expiry;

beforeEach(async () => {
  expiry = expiryOf(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '', tableName());
  await batchWrite((await scanTable()).map(({ pk, sk }) => ({ delete: { pk, sk } })));
});

function items(count: number, kind: string, expires_at?: number) {
  return Array.from({ length: count }, (_, i) => ({
    put: { pk: `${kind}#${i}`, sk: kind, ...(expires_at !== undefined && { expires_at }) },
  }));
}

async function left(): Promise<string[]> {
  return (await scanTable()).map(({ pk }) => pk).sort();
}

test('deletes what has expired, on all pages, and nothing else', async () => {
  const kept = [...items(3, 'LATER', now + 600), ...items(3, 'NEVER')];
  await batchWrite([...items(250, 'OVER', now - 1), ...items(250, 'LONG', 1), ...kept]);
  expect(await expiry.handler()).toBe(500);
  expect(await left()).toEqual(kept.map(({ put }) => put.pk).sort());
  expect(await expiry.handler()).toBe(0);
});

/** Does something before the first item is deleted. */
async function sweepAfter(intervene: (Key: Key) => unknown): Promise<number> {
  const { send } = DynamoDBDocumentClient.prototype;
  let isFirst = true;
  const sent = jest.spyOn(DynamoDBDocumentClient.prototype, 'send');
  sent.mockImplementation(async function (this: DynamoDBDocumentClient, command: never) {
    if ((command as object) instanceof DeleteCommand && isFirst) {
      isFirst = false;
      await intervene((command as DeleteCommand).input.Key as unknown as Key);
    }
    return (send as (command: never) => unknown).call(this, command);
  } as never);
  const deleted = await expiry.handler();
  sent.mockRestore();
  return deleted;
}

test('keeps what gets more time meanwhile', async () => {
  await batchWrite(items(2, 'OVER', now - 1));
  expect(await sweepAfter((key) => setAttributes(key, { expires_at: now + 600 }))).toBe(1);
  expect(await left()).toHaveLength(1);
});

test('stops in the middle, and the next goes on', async () => {
  await batchWrite(items(250, 'OVER', now - 1));
  expect(await sweepAfter(() => expiry.stop())).toBe(1);
  expect(await left()).toHaveLength(249);
  const next = expiryOf(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '', tableName());
  expect(await next.handler()).toBe(249);
});
