import { type Item, keyString } from '../../../../shared/base/table/item.ts';
import { type EntityType, entityTypes } from '../../../../shared/core/entity/entity-type.ts';
import { earlyPage, planOf, type ReviewQuery } from '../../../../shared/core/review/list-plan.ts';
import type { ReviewContent } from '../../../../shared/core/review/review.ts';

const entity_id = '11111111-1111-4111-8111-111111111111';
const user_id = '22222222-2222-4222-8222-222222222222';

const newestFirst = { order: 'date', descending: true, limit: 50, offset: 0 } as const;

type Numbers = Record<string, number>;

/** All reviews: mostly English reviews of events. */
const totals = {
  'event|en|both': 900,
  'event|de|text': 50,
  'work|en|rating': 30,
  'bk_author|fr|both': 20,
};

/** Reviews of one entity or by one user. Only these counts have stars. */
const ownCounts = {
  'event|en|both5': 300,
  'event|en|both1': 100,
  'event|de|rating5': 100,
  'work|de|text': 10,
};

/** Sums numbers of reviews by type, language and content. */
function countsOf(numbers: Numbers) {
  const types = new Map<EntityType, number>();
  const languages = new Map<string, number>();
  const contents = new Map<ReviewContent, number>();
  let all = 0;
  for (const [name, number] of Object.entries(numbers)) {
    const [type, language, content] = name.split('|') as [EntityType, string, ReviewContent];
    types.set(type, (types.get(type) ?? 0) + number);
    languages.set(language, (languages.get(language) ?? 0) + number);
    contents.set(content, (contents.get(content) ?? 0) + number);
    all += number;
  }
  return { all, types, languages, contents };
}

/** The counts of all reviews, by type. */
function byTypeOf(numbers: Numbers) {
  const groups = Map.groupBy(Object.entries(numbers), ([name]) => name.split('|')[0] as EntityType);
  return new Map([...groups].map(([type, some]) => [type, countsOf(Object.fromEntries(some))]));
}

interface Expected {
  /** Partitions that are read from their start, by attempt. */
  near?: string[][];
  /** Lists whose rank trees are descended, and how many contents each counts as matches. */
  trees?: [list: string, contents: number][];
  partitions: string[];
  isFiltered?: boolean;
  /** The number of matches, if the counts tell it. */
  count?: number;
  /** The entries of a short list tell the number of matches. */
  isCounted?: boolean;
}

const letters: Record<string, string> = { text: 't', rating: 'r', both: 'b' };

/** Roots of the trees of a list, by type and by facet, with all entries in one block. */
function rootsOf(list: string, numbers: Numbers): Map<string, Item> {
  const roots = new Map<string, Item>();
  for (const [name, number] of Object.entries(numbers)) {
    const [type = '', language = '', content = ''] = name.split('|');
    const letter = `972${letters[content.replace(/\d/, '')]}${content.replace(/\D/g, '')}`;
    for (const each of [list, `${list}|${type}`, `${list}|${type}|${language}`]) {
      const key: Item = { pk: `TREE#${each}`, sk: 'root' };
      const root = roots.get(keyString(key)) ?? { ...key };
      root[letter] = Number(root[letter] ?? 0) + number;
      roots.set(keyString(key), root);
    }
  }
  return roots;
}

function summaryOf(query: Partial<ReviewQuery>, numbers: Numbers, hasTrees: boolean): Expected {
  const request = { ...newestFirst, ...query };
  const owner = query.entity_id ? `ENTITY#${entity_id}` : query.user_id && `USER#${user_id}`;
  const counts = countsOf(numbers);
  const byType = owner ? undefined : byTypeOf(numbers);
  const roots = rootsOf(owner ?? 'all', numbers);
  const known = earlyPage(request);
  const plan = planOf(request, { counts, byType, hasTrees, roots });
  const { near = [], trees, partitions, accept, count, isCounted } = plan;
  const names = (some: typeof partitions) => some.map(({ scope, value }) => `${scope} ${value}`);
  const summary: Expected = { partitions: names(partitions) };
  const attempts = known && trees ? [known, ...near] : near;
  if (attempts.length > 0) summary.near = attempts.map((each) => names(each.partitions));
  if (trees) summary.trees = trees.map(({ list, contents }) => [list, contents.size]);
  if (accept) summary.isFiltered = true;
  if (count !== undefined) summary.count = count;
  if (isCounted) summary.isCounted = true;
  return summary;
}

const all = ['all REVIEW'];
// text, rating, both, and the last two with each number of stars.
const everyContent = 13;
const treesOfAll: Expected['trees'] = [
  ['all|event', everyContent],
  ['all|work', everyContent],
  ['all|bk_author', everyContent],
];

describe('all reviews', () => {
  const rows: [string, Partial<ReviewQuery>, Expected][] = [
    [
      'the first page is read from the one partition',
      {},
      { near: [all], trees: treesOfAll, partitions: all, count: 1000 },
    ],
    [
      'an offset of 400 is still near the start',
      { offset: 400 },
      { near: [all], trees: treesOfAll, partitions: all, count: 1000 },
    ],
    [
      'an offset of 401 is found by the trees of the types, and read from the one partition',
      { offset: 401 },
      { trees: treesOfAll, partitions: all, count: 1000 },
    ],
    [
      'a cursor begins a page anywhere',
      { offset: 700, after: '2026-01-01T00:00:00.000Z' },
      { near: [all], trees: treesOfAll, partitions: all, count: 1000 },
    ],
    ['nothing is read beyond the end', { offset: 1000 }, { partitions: [], count: 1000 }],
    [
      'reviews with a text are filtered in the same partition',
      { review_type: 'review' },
      {
        near: [all],
        trees: treesOfAll.map(([list]) => [list, 7]),
        partitions: all,
        isFiltered: true,
        count: 970,
      },
    ],
    [
      'a type is a partition of its own',
      { entity_type: 'event', offset: 700 },
      { trees: [['all|event', everyContent]], partitions: all, count: 950 },
    ],
    [
      'a type and language are a partition of their own',
      { entity_type: 'event', language: 'de' },
      {
        near: [['facet event|de']],
        trees: [['all|event|de', everyContent]],
        partitions: all,
        count: 50,
      },
    ],
    [
      'the types of a database are merged, with those that have no review yet',
      { entity_type: 'bookdb' },
      {
        near: [
          ['type bk_edition_group', 'type bk_literary_work', 'type bk_author', 'type bk_series'],
        ],
        trees: [['all|bk_author', everyContent]],
        partitions: all,
        count: 20,
      },
    ],
    [
      'if most match, all reviews are filtered, and a far page merges the types',
      { language: 'en' },
      {
        near: [all, entityTypes.map((type) => `facet ${type}|en`)],
        trees: [
          ['all|event|en', everyContent],
          ['all|work|en', everyContent],
        ],
        partitions: all,
        count: 930,
      },
    ],
    [
      'a language and a content have no number of their own',
      { entity_type: 'event', language: 'de', review_type: 'rating' },
      {
        near: [['facet event|de']],
        trees: [['all|event|de', 12]],
        partitions: all,
        isFiltered: true,
        count: 0,
      },
    ],
    [
      'a language may have its first review',
      { entity_type: 'work', language: 'ja' },
      { near: [['facet work|ja']], trees: [], partitions: all, count: 0 },
    ],
  ];

  test.each(rows)('%s', (_, query, expected) => {
    expect(summaryOf(query, totals, true)).toEqual(expected);
  });

  test('the most types in most languages are eleven partitions', () => {
    expect(entityTypes).toHaveLength(11);
    const languages = Array.from({ length: 183 }, (_, i) => `l${i}`);
    const names = entityTypes.flatMap((type) =>
      languages.map((language) => `${type}|${language}|text`),
    );
    const numbers = Object.fromEntries(names.map((name) => [name, 1]));
    expect(summaryOf({ language: 'l7' }, numbers, true).near?.[0]).toHaveLength(11);
    expect(summaryOf({ language: 'l7' }, numbers, true).trees).toHaveLength(11);
    expect(summaryOf({}, numbers, true).trees).toHaveLength(11);
    expect(summaryOf({ entity_id, language: 'l7' }, numbers, true).trees).toHaveLength(12);
    expect(
      summaryOf({ user_id, rating: [1] }, { ...numbers, 'work|l7|both1': 1 }, true).trees,
    ).toHaveLength(1);
  });
});

describe('the reviews of an entity', () => {
  const partition = `entity ${entity_id}`;
  const list = `ENTITY#${entity_id}`;
  const rows: [string, Partial<ReviewQuery>, boolean, Expected][] = [
    ['a short list is read whole', {}, false, { partitions: [partition], count: 510 }],
    [
      'a long list has one tree',
      {},
      true,
      {
        near: [[partition]],
        trees: [[list, everyContent]],
        partitions: [partition],
        count: 510,
      },
    ],
    [
      'a filter by stars is counted by the one tree',
      { rating: [5] },
      true,
      {
        near: [[partition]],
        trees: [[list, 2]],
        partitions: [partition],
        isFiltered: true,
        count: 400,
      },
    ],
    [
      'a filter by type has a tree for what matches, and one for all entries in between',
      { entity_type: 'work' },
      true,
      {
        near: [[partition]],
        trees: [
          [`${list}|work`, everyContent],
          [list, 0],
        ],
        partitions: [partition],
        isFiltered: true,
        count: 10,
      },
    ],
    [
      'a filter by language has a tree for each type, and one for all entries in between',
      { language: 'de' },
      true,
      {
        near: [[partition]],
        trees: [
          [`${list}|event|de`, everyContent],
          [`${list}|work|de`, everyContent],
          [list, 0],
        ],
        partitions: [partition],
        isFiltered: true,
        count: 110,
      },
    ],
    [
      'several filters together are counted by reading a short list',
      { language: 'de', rating: [5] },
      false,
      { partitions: [partition], isFiltered: true, isCounted: true },
    ],
    [
      'a filter that matches everything is none',
      { entity_type: 'musicdb' },
      false,
      { partitions: [partition], count: 510 },
    ],
    [
      'nothing is read if nothing matches',
      { rating: [5], language: 'fr' },
      true,
      { partitions: [], count: 0 },
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
      near: [[partition]],
      trees: [[`USER#${user_id}`, everyContent]],
    });
  });

  test('are not read without counts, because the account may be being erased', () => {
    expect(summaryOf({ user_id }, {}, true)).toEqual({ partitions: [], count: 0 });
  });
});

describe('what is read beside the counts', () => {
  const rows: [string, Partial<ReviewQuery>, string | undefined][] = [
    ['all reviews', {}, 'all REVIEW'],
    ['those of an entity', { entity_id }, `entity ${entity_id}`],
    ['those by a user', { user_id }, `author ${user_id}`],
    ['those of one type and language', { entity_type: 'work', language: 'en' }, 'facet work|en'],
    ['those with a text', { review_type: 'review' }, 'all REVIEW'],
    ['those of one type', { entity_type: 'work' }, 'type work'],
    ['not those of a database', { entity_type: 'bookdb', language: 'fr' }, undefined],
    ['not those in a language', { language: 'fr' }, undefined],
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
    const near = earlyPage({ ...newestFirst, ...query });
    expect(near?.partitions.map(({ scope, value }) => `${scope} ${value}`)).toEqual(
      expected && [expected],
    );
  });

  test('at most twice the 400 entries of a leaf with a filter, and once without', () => {
    const most = (query: Partial<ReviewQuery>) =>
      earlyPage({ ...newestFirst, offset: 400, ...query })?.most;
    expect(most({})).toBe(452);
    expect(most({ review_type: 'review' })).toBe(852);
  });
});
