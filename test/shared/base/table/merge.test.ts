import { packed } from '../../../../shared/base/table/merge.ts';

/** Returns a list of writes that puts one item of so many bytes. */
const putting = (id: number, bytes: number) => ({
  writes: [{ Put: { Item: { pk: `REVIEW#${id}`, sk: 'REVIEW', text: 'a'.repeat(bytes) } } }],
});
const sizes = (packs: Iterable<readonly unknown[]>) => [...packs].map(({ length }) => length);

test('a pack ends before its items exceed 3 MB together', () => {
  const lists = Array.from({ length: 17 }, (_, i) => putting(i, 390_000));
  // Seven items of 390 KB are 2.7 MB, and eight are 3.1 MB.
  expect(sizes(packed(lists))).toEqual([7, 7, 3]);
});

test('a pack ends before it exceeds 100 items', () => {
  const lists = Array.from({ length: 250 }, (_, i) => putting(i, 10));
  expect(sizes(packed(lists))).toEqual([100, 100, 50]);
});

test('a list is never split', () => {
  const long = { writes: Array.from({ length: 60 }, (_, i) => putting(i, 10).writes[0] as never) };
  expect(sizes(packed([putting(100, 10), long, { writes: long.writes.toReversed() }]))).toEqual([
    3,
  ]);
  expect(sizes(packed([putting(100, 3_100_000), putting(101, 10)]))).toEqual([1, 1]);
});
