import { describe, expect, test } from '@jest/globals';
import { countMatching } from '../../../shared/review/counts.ts';
import { nearWithoutCounts, planOf, type ReviewQuery } from '../../../shared/review/list-plan.ts';

const entity_id = '11111111-1111-4111-8111-111111111111';
const user_id = '22222222-2222-4222-8222-222222222222';

const newestFirst = { order: 'date', descending: true, limit: 50, offset: 0 } as const;

/** All reviews: mostly English reviews of events. */
const totals = {
  'event|en|both': 900,
  'event|de|text': 50,
  'work|en|rating': 30,
  'bk_author|fr|both': 20,
  'bk_series|fr|both': 0,
};

/** Reviews of one entity or by one user. Only these counts have stars. */
const ownCounts = {
  'event|en|both5': 300,
  'event|en|both1': 100,
  'event|de|rating5': 100,
};

interface Expected {
  /** Partition that is read from its start. */
  near?: string;
  /** Lists whose rank trees are descended, and how many contents each counts as matches. */
  trees?: [list: string, contents: number][];
  partitions: string[];
  isFiltered?: boolean;
}

function summaryOf(
  query: Partial<ReviewQuery>,
  counts: Record<string, number>,
  hasTrees: boolean,
): Expected {
  const request = { ...newestFirst, ...query };
  const matching = countMatching(new Map(Object.entries(counts)), request);
  const { near, trees, partitions, accept } = planOf(request, { matching, hasTrees });
  const summary: Expected = {
    partitions: partitions.map(({ scope, value }) => `${scope} ${value}`),
  };
  if (near) summary.near = `${near.partition.scope} ${near.partition.value}`;
  if (trees) summary.trees = trees.map(({ list, contents }) => [list, contents.size]);
  if (accept) summary.isFiltered = true;
  return summary;
}

const all = 'all REVIEW';
// text, rating, both, and the last two with each number of stars.
const everyContent = 13;

describe('all reviews', () => {
  const rows: [string, Partial<ReviewQuery>, Expected][] = [
    [
      'the first page is read from the one partition',
      {},
      { near: all, trees: [['all', everyContent]], partitions: [all] },
    ],
    [
      'an offset of 400 is still near the start',
      { offset: 400 },
      { near: all, trees: [['all', everyContent]], partitions: [all] },
    ],
    [
      'an offset of 401 is found by the tree',
      { offset: 401 },
      { trees: [['all', everyContent]], partitions: [all] },
    ],
    [
      'a cursor begins a page anywhere',
      { offset: 700, after: '2026-01-01T00:00:00.000Z' },
      { near: all, trees: [['all', everyContent]], partitions: [all] },
    ],
    ['nothing is read beyond the end', { offset: 1000 }, { partitions: [] }],
    [
      'reviews with a text are filtered in the same partition',
      { review_type: 'review' },
      { near: all, trees: [['all', 7]], partitions: [all], isFiltered: true },
    ],
    [
      'a type and language with few reviews are a partition of their own',
      { entity_type: 'event', language: 'de' },
      {
        near: 'facet event|de',
        trees: [['all|event|de', everyContent]],
        partitions: ['facet event|de'],
        isFiltered: true,
      },
    ],
    [
      'facets are merged if few reviews match, with those that have none yet',
      { entity_type: 'bookdb' },
      {
        trees: [
          ['all|bk_author|fr', everyContent],
          ['all|bk_series|fr', everyContent],
        ],
        partitions: ['facet bk_author|fr', 'facet bk_series|fr'],
        isFiltered: true,
      },
    ],
    [
      'all reviews are filtered if most match',
      { language: 'en' },
      {
        near: all,
        trees: [
          ['all|event|en', everyContent],
          ['all|work|en', everyContent],
          ['all', 0],
        ],
        partitions: [all],
        isFiltered: true,
      },
    ],
  ];

  test.each(rows)('%s', (_, query, expected) => {
    expect(summaryOf(query, totals, true)).toEqual(expected);
  });

  test('the first page is read although the counts say that there is none', () => {
    expect(summaryOf({}, {}, true)).toMatchObject({ near: all, partitions: [all] });
  });
});

describe('the reviews of an entity', () => {
  const partition = `entity ${entity_id}`;
  const list = `ENTITY#${entity_id}`;
  const rows: [string, Partial<ReviewQuery>, boolean, Expected][] = [
    ['a short list is read whole', {}, false, { partitions: [partition] }],
    [
      'a long list has one tree',
      {},
      true,
      { near: partition, trees: [[list, everyContent]], partitions: [partition] },
    ],
    [
      'a filter by stars counts facets that match, and all entries in between',
      { rating: [5] },
      true,
      {
        near: partition,
        trees: [
          [`${list}|event|en`, 2],
          [`${list}|event|de`, 2],
          [list, 0],
        ],
        partitions: [partition],
        isFiltered: true,
      },
    ],
    [
      'nothing is read if nothing matches',
      { rating: [5], language: 'fr' },
      true,
      { partitions: [] },
    ],
  ];

  test.each(rows)('%s', (_, query, hasTrees, expected) => {
    expect(summaryOf({ entity_id, ...query }, ownCounts, hasTrees)).toEqual(expected);
  });
});

describe('the reviews of a user', () => {
  const partition = `author ${user_id}`;

  test('are read from their partition', () => {
    expect(summaryOf({ user_id }, ownCounts, true)).toMatchObject({
      near: partition,
      trees: [[`USER#${user_id}`, everyContent]],
    });
  });

  test('are not read without counts, because the account may be being erased', () => {
    expect(summaryOf({ user_id }, {}, true)).toEqual({ partitions: [] });
  });
});

describe('what is read beside the counts', () => {
  const rows: [string, Partial<ReviewQuery>, string | undefined][] = [
    ['all reviews', {}, all],
    ['those of an entity', { entity_id }, `entity ${entity_id}`],
    ['those by a user', { user_id }, `author ${user_id}`],
    ['those of one type and language', { entity_type: 'work', language: 'en' }, 'facet work|en'],
    ['those with a text', { review_type: 'review' }, all],
    ['not those of one type', { entity_type: 'work' }, undefined],
    ['not those of a database', { entity_type: 'bookdb', language: 'fr' }, undefined],
    ['not those of an entity in one language', { entity_id, language: 'en' }, undefined],
    [
      'not those by a user of one facet',
      { user_id, entity_type: 'work', language: 'en' },
      undefined,
    ],
    ['not those with some stars', { user_id, rating: [4] }, undefined],
    ['nothing far from the start', { offset: 401 }, undefined],
  ];

  test.each(rows)('%s', (_, query, expected) => {
    const near = nearWithoutCounts({ ...newestFirst, ...query });
    expect(near && `${near.partition.scope} ${near.partition.value}`).toBe(expected);
  });

  test('at most twice the 400 entries of a leaf with a filter, and once without', () => {
    const most = (query: Partial<ReviewQuery>) =>
      nearWithoutCounts({ ...newestFirst, offset: 400, ...query })?.most;
    expect(most({})).toBe(452);
    expect(most({ review_type: 'review' })).toBe(852);
  });
});
