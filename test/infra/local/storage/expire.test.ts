import { expireItems } from '../../../../infra/local/storage/expire.ts';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import type { Key } from '../../../../shared/base/table/item.ts';
import type { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { scanTable, setAttributes, storeItems } from '../../../helpers/items.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { sqlite } from '../../../helpers/table.ts';

const storage = sqlite as SqliteStorage;
const now = Math.floor(Date.now() / 1000);
let over: AbortController;

beforeEach(async () => {
  over = new AbortController();
  await batchDelete(await scanTable());
});

function items(count: number, kind: string, expires_at?: number) {
  return Array.from({ length: count }, (_, i) => ({
    put: { pk: `${kind}#${i}`, sk: kind, ...(expires_at !== undefined && { expires_at }) },
  }));
}

async function left() {
  return (await scanTable()).map(({ pk }) => pk).sort();
}

test('deletes only expired items, on all pages', async () => {
  const kept = [...items(3, 'LATER', now + 600), ...items(3, 'NEVER')];
  await batchWrite([...items(250, 'OVER', now - 1), ...items(250, 'LONG', 1), ...kept]);
  expect(await expireItems(storage, over.signal)).toBe(500);
  expect(await left()).toEqual(kept.map(({ put }) => put.pk).sort());
  expect(await expireItems(storage, over.signal)).toBe(0);
});

/** Runs `intervene` before the first item is deleted. */
async function sweepAfter(intervene: (Key: Key) => unknown) {
  beforeTransaction(({ input }) => intervene(input.TransactItems?.[0]?.Delete?.Key as Key));
  return expireItems(storage, over.signal);
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
  expect(await expireItems(storage, new AbortController().signal)).toBe(249);
});

/** Returns the partition keys of what has expired. */
const found = async () => (await storage.expired(now, 200)).map(({ pk }) => pk);

test('finds items by their time, whatever their other attributes and keys are', async () => {
  const items = [
    { pk: 'A', sk: 'late', expires_at: now },
    { pk: 'B:C', sk: 'S:x', expires_at: 7, text: 'x'.repeat(30_000), more: 1 },
    { pk: 'D', sk: 'not yet', expires_at: now + 1 },
    { pk: 'E', sk: 'a text', text: '"expires_at":{"N":"1"}' },
    { pk: 'F', sk: 'a text', text: { expires_at: '1' }, 'expires_at ': 1 },
  ];
  await storeItems(items);
  expect(await found()).toEqual(['B:C', 'A']);
  await setAttributes({ pk: 'A', sk: 'late' }, { expires_at: now + 60 });
  await setAttributes({ pk: 'D', sk: 'not yet' }, { expires_at: now - 60 });
  expect(await found()).toEqual(['B:C', 'D']);
});
