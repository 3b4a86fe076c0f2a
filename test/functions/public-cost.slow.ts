import '../helpers/engine.ts';
import { measure } from '../../bin/bench/measure.ts';
import { kindOf, type WholeReview } from '../../shared/core/review/review.ts';
import { revisionItem, revisionOf } from '../../shared/core/review/revision.ts';
import { logChanges } from '../../shared/features/changes/log.ts';
import { storeItems } from '../helpers/items.ts';
import { position } from '../helpers/list-changes.ts';
import { itemsOf, makeUsers, reviewBy, visitor } from '../helpers/world.ts';

// What histories and changes may cost a stranger, with the worst data that the rules allow. Other
// public GETs: widest-answers.slow.ts.
const mostUnits = 200;
const mostBytes = 512 * 1024;

/** 5,000 code points of four bytes. */
const emoji = '🎷'.repeat(5_000);
/** 5,000 code points that take six bytes each in JSON. */
const controls = `x${'\u0001'.repeat(4_999)}`;

/** A text of an old review, which an import keeps. */
const imported = 'x'.repeat(300_000);

const users = await makeUsers(100);
const [author] = users;

/** Stores public reviews with so many earlier revisions, and logs them as changed. */
async function store(reviews: readonly WholeReview[], edits = 0) {
  const items = [];
  for (const review of reviews) {
    items.push(...itemsOf({ ...review, edits, version: edits + 1 }));
    for (let n = 1; n <= edits; n++) items.push(revisionItem({ ...revisionOf(review), id: n }));
  }
  await storeItems(items);
  await logChanges(
    reviews.map((review) => {
      const { id, entity_id, user_id } = review;
      const about = { entity_id, user_id, index: kindOf(review) };
      return { id, version: edits + 1, kind: 'published', ...about };
    }),
  );
  return reviews.map(({ id }) => id);
}

/** Reviews by as many authors, of one entity unless it is given. */
const reviewsBy = (count: number, content: Parameters<typeof reviewBy>[1]) =>
  users.slice(0, count).map(({ id }) => reviewBy(id, content));

const sizeOf = (body: unknown) =>
  Buffer.byteLength(typeof body === 'string' ? body : JSON.stringify(body));

describe('GET /review/{review_id}/revisions', () => {
  test.each([
    ['of the longest texts', 310, { text: emoji }],
    ['of the longest JSON', 310, { text: controls }],
    ['of ratings alone', 2_000, { text: null }],
    ['of the longest imported texts', 20, { text: imported }],
  ])('of a long history %s', async (_, edits, content) => {
    const [review_id = ''] = await store([reviewBy(author.id, content)], edits);
    const cost = await measure('list-revisions', { path: { review_id } });
    expect(cost).toHaveStatus(200);
    expect(cost.read).toBeLessThanOrEqual(mostUnits);
    const [{ text = '' }] = cost.body.revisions;
    expect(sizeOf(cost.body)).toBeLessThanOrEqual(Math.max(256 * 1024, sizeOf(text)) + 500);
    expect(cost.roundTrips).toBeLessThanOrEqual(6);
    const { headers: known } = await visitor.listsRevisions(review_id);
    const headers = { 'If-None-Match': known.etag ?? '' };
    const again = await measure('list-revisions', { path: { review_id }, headers });
    // The tag is that of the answer, which is read to compare it.
    expect(again).toMatchObject({ status: 304, read: cost.read });
  });

  test.each([
    ['the longest', emoji],
    ['the longest in JSON', controls],
    ['imported', imported],
  ])('of short revisions before %s ones', async (_, text) => {
    const review = reviewBy(author.id, { text: null });
    const [review_id = ''] = await store([review], 400);
    const long = Array.from({ length: text === imported ? 50 : 350 }, (_, i) =>
      revisionItem({ ...revisionOf(review), id: i + 1, text }),
    );
    await storeItems(long);
    const { status, read, roundTrips } = await measure('list-revisions', { path: { review_id } });
    expect(status).toBe(200);
    expect(read).toBeLessThanOrEqual(mostUnits);
    expect(roundTrips).toBeLessThanOrEqual(6);
  });
});

describe('GET /changes', () => {
  test.each([
    ['three long histories', 3, 310, { text: emoji }],
    ['long histories of ratings alone', 4, 2_000, { text: null }],
    ['a hundred of the longest texts', 100, 0, { text: emoji }],
    ['a hundred of the longest JSON', 100, 0, { text: controls }],
    ['a hundred with two revisions', 100, 1, { text: emoji }],
    ['a hundred short histories', 100, 45, { text: null }],
    ['a hundred short reviews', 100, 0, {}],
    ['thirty of the longest imported texts', 30, 0, { text: imported }],
    ['histories of imported texts', 3, 10, { text: imported }],
  ])('of %s', async (_, count, edits, content) => {
    const since = await position();
    const ids = await store(reviewsBy(count, content), edits);
    const seen = await walk(since);
    expect([...seen].toSorted()).toEqual(ids.toSorted());
  });

  test('of a hundred hidden reviews', async () => {
    const since = await position();
    const reviews = reviewsBy(100, { text: emoji });
    await store(reviews.map((review) => ({ ...review, is_hidden: true })));
    expect(await walk(since)).toEqual(new Set());
  });

  test('of a few reviews that changed very often', async () => {
    const since = await position();
    const reviews = reviewsBy(20, { text: emoji });
    // One lane, so that each item of the log is full.
    const same = reviews.map((review) => ({
      ...review,
      id: review.id.replace(/^.{8}/, '00000008'),
    }));
    for (let i = 0; i < 300; i++) {
      await logChanges(same.map(({ id }) => ({ id, version: 1, kind: 'published' })));
    }
    await store(same);
    expect((await walk(since)).size).toBe(20);
  });

  /** Reads all changes, each page within the bounds, and returns the ids of public reviews. */
  async function walk(since: string) {
    const seen = new Set<string>();
    for (let next = since, hasMore = true; hasMore; ) {
      const { status, body, read } = await measure('list-changes', {
        query: { since: next, limit: '100' },
      });
      expect(status).toBe(200);
      expect(read).toBeLessThanOrEqual(mostUnits);
      expect(sizeOf(body)).toBeLessThanOrEqual(mostBytes);
      for (const { id, review } of body.changes) if (review) seen.add(id);
      next = body.next;
      hasMore = body.has_more;
    }
    return seen;
  }
});
