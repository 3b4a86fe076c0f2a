import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { expireItems } from '../../../infra/local/expire.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import { table } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/item.ts';
import { scanTable, setAttributes } from '../../helpers/items.ts';

const now = Math.floor(Date.now() / 1000);
let over: AbortController;

beforeEach(async () => {
  over = new AbortController();
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

test('deletes only expired items, on all pages', async () => {
  const kept = [...items(3, 'LATER', now + 600), ...items(3, 'NEVER')];
  await batchWrite([...items(250, 'OVER', now - 1), ...items(250, 'LONG', 1), ...kept]);
  expect(await expireItems(over.signal)).toBe(500);
  expect(await left()).toEqual(kept.map(({ put }) => put.pk).sort());
  expect(await expireItems(over.signal)).toBe(0);
});

/** Runs `intervene` before the first item is deleted. */
async function sweepAfter(intervene: (Key: Key) => unknown): Promise<number> {
  const send = table.send.bind(table) as (command: never) => unknown;
  let isFirst = true;
  const sent = jest.spyOn(table, 'send').mockImplementation((async (command: never) => {
    if ((command as object) instanceof TransactWriteCommand && isFirst) {
      isFirst = false;
      const [write] = (command as TransactWriteCommand).input.TransactItems ?? [];
      await intervene(write?.Delete?.Key as unknown as Key);
    }
    return send(command);
  }) as never);
  const deleted = await expireItems(over.signal);
  sent.mockRestore();
  return deleted;
}

test('keeps an item whose expiry is extended meanwhile', async () => {
  await batchWrite(items(2, 'OVER', now - 1));
  expect(await sweepAfter((key) => setAttributes(key, { expires_at: now + 600 }))).toBe(1);
  expect(await left()).toHaveLength(1);
});

test('stops in the middle, and the next run continues', async () => {
  await batchWrite(items(250, 'OVER', now - 1));
  expect(await sweepAfter(() => over.abort())).toBe(1);
  expect(await left()).toHaveLength(249);
  expect(await expireItems(new AbortController().signal)).toBe(249);
});
