import { measure } from '../../bin/bench/measure.ts';
import type { Review } from '../../shared/core/review/review.ts';
import { applyStream } from '../helpers/stream.ts';
import { idsOf, makeUsers, reviewBy, storeReviews, visitor } from '../helpers/world.ts';

/** Texts of 5,000 code points with the most bytes in the table, in JSON and in HTML. */
const longest = ['\u{1F3B5}'.repeat(5000), `a${'\u0001'.repeat(4999)}`, '"'.repeat(5000)];
const number = 60;
const reviews: Review[] = [];

beforeAll(async () => {
  const users = await makeUsers(number);
  for (const [i, { id }] of users.entries()) {
    reviews.push(reviewBy(id, { text: longest[i % longest.length] }));
  }
  await storeReviews(reviews);
  await applyStream();
});

/** Ids of all pages, each continued from the page before. */
async function walk(next: (page: Page) => Record<string, string> | undefined) {
  const ids = [];
  let query: Record<string, string> | undefined = {};
  while (query) {
    const { status, body } = await visitor.lists(query);
    expect(status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(512 * 1024);
    if (body.next) expect(body.reviews.length).toBe(body.limit);
    ids.push(...idsOf(body.reviews));
    query = next(body);
  }
  return ids;
}

interface Page {
  count: number;
  limit: number;
  offset: number;
  next?: string;
}

describe('a list of the longest reviews', () => {
  const all = () => reviews.map(({ id }) => id).toSorted();

  test('has shorter pages, and every review once, by cursor', async () => {
    const ids = await walk(({ next }) => (next ? { cursor: next } : undefined));
    expect(ids.toSorted()).toEqual(all());
  });

  test('has every review once by offset and the limit that was answered', async () => {
    const ids = await walk(({ offset, limit, count }) =>
      offset + limit < count ? { offset: `${offset + limit}` } : undefined,
    );
    expect(ids.toSorted()).toEqual(all());
  });

  test('goes on with the offset after a short page', async () => {
    const first = await visitor.lists({});
    expect(first.body.limit).toBeLessThan(50);
    const second = await visitor.lists({ cursor: first.body.next });
    expect(second.body.offset).toBe(first.body.limit);
  });

  test.each(['list-reviews', 'show-reviews', 'get-user-feed'])(
    '%s costs what a public read may',
    async (operation) => {
      const path = { user_id: reviews[0]?.user_id ?? '' };
      const { status, read } = await measure(operation, { path });
      expect(status).toBe(200);
      expect(read).toBeLessThanOrEqual(120);
    },
  );
});
