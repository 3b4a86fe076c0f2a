import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { withoutRecords } from '../../bin/bulk.ts';
import { typesOf } from '../../shared/core/entity/entity-type.ts';
import type { Review } from '../../shared/core/review/review.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { idsOf, makeUsers, reviewBy, storeReviews, text } from '../helpers/world.ts';

// Matches that lie far apart in a list, so that each of them takes a command of its own.

const matching: Review[] = [];
const entity_id = randomUUID();

beforeAll(async () => {
  const users = await makeUsers(60);
  const types = typesOf('musicdb');
  const reviews: Review[] = [];
  for (let i = 0; i < 60 * 60; i++) {
    const isMatch = i % 60 === 30;
    const published_on = new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString();
    const review = reviewBy(users[i % 60]?.id ?? '', {
      entity_id,
      entity_type: types[(isMatch ? (i - 30) / 60 : i) % types.length],
      ...(isMatch ? { text: null, rating: 3 } : { text, rating: null }),
    });
    reviews.push({ ...review, created: published_on, last_updated: published_on, published_on });
    const last = reviews.at(-1);
    if (isMatch && last) matching.unshift(last);
  }
  await withoutRecords(() => storeReviews(reviews));
  await recountOwners();
  await rebuildTotals(undefined, { inTransactions: true });
}, 300_000);

describe('a list whose matches lie far apart', () => {
  test.each([
    ['of a group in a language', { entity_type: 'musicdb', language: 'en' }],
    ['of an entity', { entity_id }],
    ['of an entity in a language', { entity_id, entity_type: 'musicdb', language: 'en' }],
  ])('%s has pages within the commands of a request, and every match once', async (_, filter) => {
    const ids = [];
    const query: Record<string, string> = { ...filter, review_type: 'rating' };
    for (let next = ''; next !== undefined; ) {
      if (next) query.cursor = next;
      const { status, body, commands, read } = await measure('list-reviews', { query });
      expect(status).toBe(200);
      expect(commands).toBeLessThanOrEqual(60);
      expect(read).toBeLessThanOrEqual(120);
      expect(body.count).toBe(matching.length);
      ids.push(...idsOf(body.reviews));
      if (body.next) expect(body.limit).toBe(body.reviews.length);
      next = body.next;
    }
    expect(ids).toEqual(matching.map(({ id }) => id));
  });

  test.each([
    ['show-reviews', () => ({ query: { entity_type: 'musicdb', review_type: 'rating' } })],
    ['show-entity', () => ({ path: { entity_id }, query: { rating: '3', language: 'en' } })],
  ])('%s has a page within the commands of a request', async (operation, request) => {
    const { status, commands } = await measure(operation, request());
    expect(status).toBe(200);
    expect(commands).toBeLessThanOrEqual(60);
  });
});
