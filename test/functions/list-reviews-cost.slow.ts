import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { listed } from '../../bin/bench/oracle.ts';
import { withoutRecords } from '../../bin/bulk.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { table } from '../../shared/base/table/client.ts';
import { countsKey } from '../../shared/core/keys.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { insertReview } from '../../shared/core/review/review-repository.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { userItem } from '../../shared/core/user/user-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { readItem } from '../helpers/items.ts';
import { idsOf, reviewBy, visitor } from '../helpers/world.ts';

type Query = Record<string, string>;

const length = 3000;
const user_id = randomUUID();
const reviews: WholeReview[] = [];

/** Index entries read by queries. */
let read = 0;

/**
 * Makes review `i` of a list whose few matches are in its middle. The 460 reviews in German have a
 * rating, the others none.
 */
function makeReviewAt(i: number) {
  const isFound = i >= 1270 && i < 1730;
  // At both ends very many reviews share one minute.
  const hours = Math.min(Math.max(i, 300), length - 300);
  const published_on = new Date(Date.UTC(2025, 0, 1) + hours * 3_600_000 + i).toISOString();
  return {
    ...reviewBy(user_id, isFound ? { language: 'de' } : { rating: null }),
    created: published_on,
    last_updated: published_on,
    published_on,
    popularity: i % 5 === 0 ? (i % 7) - 3 : 0,
  };
}

beforeAll(async () => {
  reviews.push(...Array.from({ length }, (_, i) => makeReviewAt(i)));
  const user = { id: user_id, display_name: 'Ann', created: '2024-01-01T00:00:00.000Z', karma: 0 };
  const counts = { work: length, DE: 460, EN: length - 460, b4: 460, t: length - 460 };
  await withoutRecords(() =>
    batchWrite([
      { put: userItem(user) },
      { put: { ...countsKey(user_id), ...counts } },
      ...reviews.map((review) => ({ put: reviewItem(review) })),
    ]),
  );
  await rebuildTotals();
  expect(await readItem(countsKey(user_id))).toMatchObject({ rank_tree: 'ready' });
  table.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      read += (result.output as { ScannedCount?: number }).ScannedCount ?? 0;
      return result;
    },
    { step: 'initialize' },
  );
});

async function list(query: Query) {
  read = 0;
  const { status, body } = await visitor.lists(query);
  expect({ query, status }).toEqual({ query, status: 200 });
  const ids = idsOf(body.reviews);
  return { ids, next: body.next, read };
}

const filters: Query[] = [
  { user_id, language: 'de' },
  { user_id, review_type: 'rating' },
  { user_id, rating: '3,4' },
  { review_type: 'rating' },
  { language: 'de' },
];
const queries = filters.flatMap((filter) =>
  ['published_on', 'popularity'].flatMap((sort) =>
    ['asc', 'desc'].map((sort_order) => ({ ...filter, sort, sort_order })),
  ),
);

/** Entries allowed: 852 for a near read in vain, then a page and its surroundings. */
const most = 852 + 250;

async function walk(query: Query) {
  const ids = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor; pages++) {
    const page = await list({ ...query, ...(cursor && { cursor }) });
    const { read } = page;
    expect({ query, ids, isCheap: read <= most, read }).toMatchObject({ isCheap: true });
    expect(pages).toBeLessThan(20);
    ids.push(...page.ids);
    cursor = page.next;
  }
  return ids;
}

describe('GET /review/ when few of many match', () => {
  test.each(queries)('reads little at any offset and by cursor: %j', async (query) => {
    const expected = listed(reviews, query).map(({ id }) => id);
    for (const offset of [0, 100, 380, 430]) {
      const page = await list({ ...query, offset: `${offset}`, limit: '10' });
      const ids = expected.slice(offset, offset + 10);
      expect({ offset, ids: page.ids }).toEqual({ offset, ids });
      expect(page.read).toBeLessThanOrEqual(most);
    }
    expect(await walk(query)).toEqual(expected);
  });

  test('does not try a near read when the page is far', async () => {
    for (const offset of ['75', '100', '380', '430']) {
      expect((await list({ user_id, language: 'de', offset })).read).toBeLessThan(100);
    }
  });

  test('includes entries at the newest end that are not counted yet', async () => {
    const fresh = Array.from({ length: 70 }, (_, i) => {
      const published_on = new Date(Date.UTC(2026, 0, 1) + i).toISOString();
      return { ...makeReviewAt(1500), published_on, created: published_on };
    });
    await withoutRecords(async () => {
      for (const review of fresh) await insertReview(review);
    });
    for (const filter of filters) {
      for (const sort_order of ['asc', 'desc']) {
        const query = { ...filter, sort_order };
        const expected = listed([...reviews, ...fresh], query).map(({ id }) => id);
        expect({ query, ids: await walk(query) }).toEqual({ query, ids: expected });
      }
    }
  });
});
