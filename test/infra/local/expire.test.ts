import { DatabaseSync } from 'node:sqlite';
import { expireItems } from '../../../infra/local/expire.ts';
import { expiredItems, indexExpiry } from '../../../infra/local/expiry-index.ts';
import { batchDelete, batchWrite } from '../../../shared/table/batch.ts';
import { tableName } from '../../../shared/table/client.ts';
import type { Key } from '../../../shared/table/item.ts';
import { scanTable, setAttributes } from '../../helpers/items.ts';
import { beforeTransaction } from '../../helpers/sends.ts';
import { file } from '../../helpers/table.ts';

indexExpiry(file, tableName());
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
  expect(await expireItems(file, over.signal)).toBe(500);
  expect(await left()).toEqual(kept.map(({ put }) => put.pk).sort());
  expect(await expireItems(file, over.signal)).toBe(0);
});

/** Runs `intervene` before the first item is deleted. */
async function sweepAfter(intervene: (Key: Key) => unknown) {
  beforeTransaction(({ input }) => intervene(input.TransactItems?.[0]?.Delete?.Key as Key));
  return expireItems(file, over.signal);
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
  expect(await expireItems(file, new AbortController().signal)).toBe(249);
});

/** Returns the partition keys that the index finds. */
const found = () => [...expiredItems(file, tableName(), now)].flat().map(({ pk }) => pk);

test('finds items by their time, whatever their other attributes and keys are', async () => {
  const items = [
    { pk: 'A', sk: 'late', expires_at: now },
    { pk: 'B:C', sk: 'S:x', expires_at: 7, text: 'x'.repeat(30_000), more: 1 },
    { pk: 'D', sk: 'not yet', expires_at: now + 1 },
    { pk: 'E', sk: 'a text', text: '"expires_at":{"N":"1"}' },
    { pk: 'F', sk: 'a text', text: { expires_at: '1' }, 'expires_at ': 1 },
  ];
  await batchWrite(items.map((put) => ({ put })));
  expect([...expiredItems(file, tableName(), now)]).toEqual([
    [
      { pk: 'B:C', sk: 'S:x' },
      { pk: 'A', sk: 'late' },
    ],
  ]);
  await setAttributes({ pk: 'A', sk: 'late' }, { expires_at: now + 60 });
  await setAttributes({ pk: 'D', sk: 'not yet' }, { expires_at: now - 60 });
  expect(found()).toEqual(['B:C', 'D']);
});

test('a sweep reads what has expired, and nothing else', async () => {
  await batchWrite([...items(400, 'NEVER'), ...items(400, 'LATER', now + 600)]);
  const reader = new DatabaseSync(file, { readOnly: true });
  const plan = jest.spyOn(DatabaseSync.prototype, 'prepare');
  expect(found()).toEqual([]);
  const query = `${plan.mock.calls[0]?.[0]}`;
  plan.mockRestore();
  const steps = reader.prepare(`EXPLAIN QUERY PLAN ${query}`).all();
  expect(steps.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('SEARCH reviews USING INDEX by_expiry'),
  ]);
  reader.close();
});
