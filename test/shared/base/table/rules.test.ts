import { batchGet, batchWrite } from '../../../../shared/base/table/batch.ts';
import { collect, getItem, queryIndex, queryItems } from '../../../../shared/base/table/query.ts';
import { provideStorage } from '../../../../shared/base/table/storage.ts';
import { transact, tryUpdate, update } from '../../../../shared/base/table/transact.ts';
import type { Write } from '../../../../shared/base/table/write.ts';

// What DynamoDB refuses by its Developer Guide (Constraints; Using global secondary indexes) and
// API Reference. Neither storage may receive it.

let calls: string[];
const noting =
  (name: string, answer: object = []) =>
  async () => {
    calls.push(name);
    return answer as never;
  };
beforeEach(() => {
  calls = [];
  provideStorage({
    get: noting('get'),
    query: noting('query', { items: [], next: undefined }),
    scan: noting('scan'),
    transact: noting('transact'),
    update: noting('update'),
    write: noting('write'),
  });
});
afterEach(() => provideStorage(undefined));

const Key = { pk: 'A', sk: 'A' };
const put = (attributes: object, pk = 'A'): Write => ({
  Put: { Item: { pk, sk: 'A', ...attributes } },
});
const puts = (count: number, attributes = {}) =>
  Array.from({ length: count }, (_, i) => put(attributes, `A${i}`));
const read = (pk: string, options: object) => collect(queryItems({ pk, sk: '' }, options));
const list = (range: object) => collect(queryIndex('all-by-date', 'R', { range }));
const listByPopularity = (range: object) =>
  collect(queryIndex('all-by-popularity', 'R', { range }));
const { repeat } = String.prototype;
const text = (bytes: number) => repeat.call('x', bytes);

test.each<[string, () => Promise<unknown>]>([
  ['an empty partition key', () => getItem({ pk: '', sk: 'A' })],
  ['an empty sort key', () => getItem({ pk: 'A', sk: '' })],
  ['a partition key of over 2,048 bytes', () => getItem({ pk: text(2_049), sk: 'A' })],
  ['a sort key of over 1,024 bytes', () => getItem({ pk: 'A', sk: 'é'.repeat(513) })],
  ['an empty sort key in a batch', () => batchGet([Key, { pk: 'A', sk: '' }])],
  ['a key twice in a batch', () => batchGet([Key, { ...Key }])],
  ['an item twice in a batch of writes', () => batchWrite([{ put: Key }, { delete: Key }])],
  ['an empty partition of a query', () => read('', {})],
  ['an empty start of a range', () => read('A', { after: '' })],
  ['an empty end of a range', () => read('A', { until: '' })],
  ['an end of a range of over 1,024 bytes', () => read('A', { until: text(1_025) })],
  ['a range that ends before it begins', () => read('A', { after: 'b', until: 'a' })],
  // U+FF5E sorts before an emoji by UTF-8, and after it by UTF-16.
  [
    'a range that ends before it begins, by bytes',
    () => read('A', { after: '\u{1f600}', until: '\uff5e' }),
  ],
  ['a page of nothing', () => read('A', { pageSize: 0 })],
  ['an empty partition of an index', () => collect(queryIndex('all-by-date', ''))],
  ['an empty bound of an index', () => list({ low: '' })],
  ['a number as a date', () => list({ low: 1n })],
  ['a text as a rank', () => listByPopularity({ high: '1' })],
  ['a range of an index that ends before it begins', () => list({ low: 'b', high: 'a' })],
  ['a transaction of nothing', () => transact([])],
  ['101 actions', () => transact(puts(101))],
  [
    'an item twice in a transaction',
    () => transact([put({}), { ConditionCheck: { Key, was: {} } }]),
  ],
  ['a transaction of over 4 MB', () => transact(puts(11, { text: text(390_000) }))],
  ['an item of over 400 KB', () => transact([put({ text: text(410_000) })])],
  [
    'an item of over 400 KB in a batch',
    () => batchWrite([{ put: { ...Key, text: text(410_000) } }]),
  ],
  ['an update of over 400 KB', () => tryUpdate({ Key, set: { text: text(410_000) } })],
  ['an empty key of an index', () => batchWrite([{ put: { ...Key, all: '' } }])],
  ['a number as a key of an index', () => transact([put({ author: 1 })])],
  ['a text as a rank of an item', () => tryUpdate({ Key, set: { popularity_rank: '1' } })],
  ['a date of over 1,024 bytes', () => tryUpdate({ Key, begin: { date: text(1_025) } })],
  ['an update of nothing', () => update({ Key, set: {} })],
  ['an update of a key', () => update({ Key, set: { sk: 'B' } })],
  ['two changes of an attribute', () => update({ Key, set: { n: 1 }, amounts: { n: 1 } })],
  ['two changes of a version', () => update({ Key, amounts: { version: 1 }, isOwner: true })],
])('%s is refused before it is sent', async (_, act) => {
  await expect(act()).rejects.toThrow(expect.objectContaining({ name: 'RefusedRequest' }));
  expect(calls).toEqual([]);
});

const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`attribute-${i}`, i]));

test.each<[string, () => Promise<unknown>]>([
  ['an update', () => tryUpdate({ Key, amounts: many })],
  ['an update in a transaction', () => transact([{ Update: { Key, set: many } }])],
  ['a condition', () => transact([{ Delete: { Key, was: many } }])],
])('%s of over 4 KB is refused before it is sent', async (_, act) => {
  await expect(act()).rejects.toMatchObject({ name: 'ExpressionTooLong' });
  expect(calls).toEqual([]);
});

test.each<[string, unknown]>([
  ['a Set', new Set(['x'])],
  ['a Map', new Map([['x', 1]])],
  ['a Date', new Date()],
  ['bytes', Buffer.from('x')],
  ['a function', () => 1],
  ['no number', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
])('%s cannot be stored', async (_, value) => {
  await expect(batchWrite([{ put: { ...Key, value: [{ value }] } }])).rejects.toThrow(TypeError);
  await expect(tryUpdate({ Key, set: { value } })).rejects.toThrow(TypeError);
  expect(calls).toEqual([]);
});

test('what DynamoDB takes is sent', async () => {
  await getItem({ pk: text(2_048), sk: text(1_024) });
  await read('A', {});
  await read('A', { after: 'a', until: 'a', pageSize: 1 });
  await list({ low: 'a', high: 'a' });
  await listByPopularity({ low: -1n, high: 0n });
  await transact(puts(100, { text: '', user_id: '', all: text(2_048) }));
  await transact(puts(10, { text: text(400_000) }));
  await update({ Key, set: { all: undefined, popularity_rank: 1n } });
  expect(calls.join(' ')).toBe('get query query query query transact transact update');
});
