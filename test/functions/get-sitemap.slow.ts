import '../helpers/engine.ts';
import { measure } from '../../bin/bench/measure.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, reviewBy, storeReviews } from '../helpers/world.ts';

const sitemap = 'https://api.example/ws/sitemap.xml';

const locationsIn = (xml: string) =>
  [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url = '']) => url);

test('a sitemap has pages of 1,000 reviews within the budget of a list, each review once', async () => {
  const { id } = await makeUser();
  const start = Date.parse('2025-01-01T00:00:00.000Z');
  const reviews = Array.from({ length: 2_300 }, (_, i) => {
    const published_on = new Date(start + i * 60_000).toISOString();
    return { ...reviewBy(id, {}), published_on };
  });
  await storeReviews(reviews);
  await applyStream();
  const pages = [1, 2, 3].map((page) => `${sitemap}?page=${page}`);
  const index = await measure('get-sitemap', {});
  expect(locationsIn(`${index.body}`)).toEqual(pages);
  expect(index.read).toBeLessThanOrEqual(2);
  expect(index.roundTrips).toBe(1);
  const all = [];
  for (const page of ['1', '2', '3']) {
    const cost = await measure('get-sitemap', { query: { page } });
    expect(cost).toHaveStatus(200);
    expect(cost.read).toBeLessThanOrEqual(52);
    expect(cost.roundTrips).toBeLessThanOrEqual(6);
    expect(Buffer.byteLength(`${cost.body}`)).toBeLessThanOrEqual(512 * 1024);
    all.push(...locationsIn(`${cost.body}`));
  }
  expect(all).toHaveLength(2_300 + 3);
  expect(new Set(all).size).toBe(all.length);
  expect(all.slice(3)).toEqual(
    reviews.map((review) => `https://api.example/ws/review/${review.id}`),
  );
});
