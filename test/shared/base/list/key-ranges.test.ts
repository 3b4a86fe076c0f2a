import type { Partition, Span, Tree } from '../../../../shared/base/list/descend.ts';
import { keyRangesOf } from '../../../../shared/base/list/key-ranges.ts';
import { datePath } from '../../../../shared/base/list/rank-tree.ts';

const treeOf = (value: string): Tree => ({
  list: value,
  partition: { scope: 'facet', value },
  contents: new Set(['text']),
});
const works = treeOf('work|en');
const events = treeOf('event|en');
const trees = [works, events];

/** The minute of a day, in the tree by date. */
const at = (minute: string) => datePath(Date.parse(`2026-03-01T${minute}:00.000Z`)).slice(0, 3);

/** A leaf with matches in some trees and other entries beside them. */
function leaf(minute: string, matching: [Tree, number][], others = 0) {
  const parts = matching.map(([tree, count]) => ({ tree, matching: count, all: count }));
  const sum = parts.reduce((total, part) => total + part.matching, 0);
  return { path: at(minute), parts, matching: sum, all: sum + others };
}

interface Ends {
  isStart?: boolean;
  isEnd?: boolean;
  after?: string;
  descending?: boolean;
}

/** Ranges as text, with times of the day and the partitions to read. */
function rangesOf(spans: Span[], { isStart = false, isEnd = false, ...request }: Ends = {}) {
  const window = { spans, skip: 0, isStart, isEnd };
  const order = { order: 'date', descending: false } as const;
  const timeOf = (key: unknown) => (key === undefined ? 'open' : String(key).slice(11, 16));
  const names = (partitions: Set<Partition>) => [...partitions].map(({ value }) => value).join();
  return keyRangesOf(window, trees, { ...order, ...request }).map(
    ({ low, high, partitions }) => `${timeOf(low)} to ${timeOf(high)}: ${names(partitions)}`,
  );
}

describe('in the middle of a list', () => {
  const early = leaf('10:00', [[works, 3]]);
  const late = leaf('10:01', [[events, 2]]);

  test('neighbours are one range in both partitions', () => {
    expect(rangesOf([early, late])).toEqual(['10:00 to 10:02: work|en,event|en']);
  });

  test('a descending range is extended downwards', () => {
    expect(rangesOf([late, early], { descending: true })).toEqual([
      '10:00 to 10:02: event|en,work|en',
    ]);
  });

  test('only partitions with matches are read', () => {
    const both = leaf('10:00', [
      [works, 3],
      [events, 0],
    ]);
    expect(rangesOf([both])).toEqual(['10:00 to 10:01: work|en']);
  });

  const rows: [string, number, string[]][] = [
    ['20 other entries cost less than another Query', 20, ['10:00 to 10:11: work|en']],
    ['21 are skipped', 21, ['10:00 to 10:01: work|en', '10:10 to 10:11: work|en']],
  ];

  test.each(rows)('%s', (_, others, expected) => {
    const spans = [
      leaf('10:00', [[works, 1]]),
      leaf('10:05', [[works, 0]], others),
      leaf('10:10', [[works, 1]]),
    ];
    expect(rangesOf(spans)).toEqual(expected);
  });
});

describe('at the ends of a list', () => {
  test('the first and last range are open, in all partitions', () => {
    const spans = [
      leaf('10:00', [[works, 1]]),
      leaf('10:05', [[works, 0]], 50),
      leaf('10:10', [[works, 1]]),
    ];
    expect(rangesOf(spans, { isStart: true, isEnd: true })).toEqual([
      'open to 10:01: work|en,event|en',
      '10:10 to open: work|en,event|en',
    ]);
  });

  test('the first range begins with the cursor', () => {
    const after = '2026-03-01T10:00:30.000Z#id';
    expect(rangesOf([leaf('10:00', [[works, 1]])], { isStart: true, after })).toEqual([
      '10:00 to 10:01: work|en,event|en',
    ]);
  });

  test('a long end without matches is skipped, but not what may come beyond it', () => {
    const spans = [leaf('10:00', [[works, 1]]), leaf('10:05', [[works, 0]], 100)];
    expect(rangesOf(spans, { isEnd: true })).toEqual([
      '10:00 to 10:01: work|en',
      '10:06 to open: work|en,event|en',
    ]);
  });

  test('a short end without matches is read', () => {
    const spans = [leaf('10:00', [[works, 1]]), leaf('10:01', [[works, 0]], 10)];
    expect(rangesOf(spans, { isEnd: true })).toEqual(['10:00 to open: work|en,event|en']);
  });

  test('an empty list is read whole', () => {
    expect(rangesOf([], { isStart: true, isEnd: true })).toEqual([
      'open to open: work|en,event|en',
    ]);
  });

  test('a range that ends before the cursor is left out', () => {
    const spans = [leaf('10:00', [[works, 0]], 100), leaf('10:10', [[works, 1]])];
    const after = '2026-03-01T10:00:30.000Z#id';
    expect(rangesOf(spans, { isStart: true, after })).toEqual(['10:10 to 10:11: work|en']);
  });
});
