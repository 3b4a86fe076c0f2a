import { randomUUID } from 'node:crypto';
import { batchDelete } from '../../shared/base/table/batch.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import type { Review } from '../../shared/core/review/review.ts';
import { beginExact, deferred, deliver, records } from '../helpers/aggregates.ts';
import { aggregateDifferences } from '../helpers/recount.ts';
import { makeUser, reviewBy, storeReviews } from '../helpers/world.ts';

/** Each batch meets exact numbers, whatever became of the batch before. */
beforeEach(beginExact);

const minute = 60_000;
/** The trees by date count 512 hours as one block. One of them begins here. */
const block = Date.parse('2026-10-10T00:00:00.000Z');
const blockLength = 512 * 60 * minute;
/** A block has 128 slots. */
const slotLength = 240 * minute;

/** Makes 1,000 public reviews with a few votes each, over a time that ends with the block. */
function reviewsOver(length: number) {
  const from = block + blockLength - length;
  return Array.from({ length: 1000 }, (_, i) => ({
    ...reviewBy(randomUUID()),
    published_on: new Date(from + Math.floor((i * length) / 1000)).toISOString(),
    popularity: [1, -1, 2, 3, 7, -2, 0][i % 7] ?? 0,
    text: i % 3 === 0 ? null : 'A record.',
    rating: i % 3 === 0 ? 2 : null,
  }));
}

/** Delivers a batch of 1,000, then a record of another shard. All numbers must then be exact. */
async function expectCounted() {
  const batch = await records();
  expect(batch.length).toBe(1000);
  await deliver(batch);
  await makeUser();
  await deliver(await records());
  expect(await deferred()).toEqual([]);
  expect(await aggregateDifferences()).toEqual([]);
}

let reviews: Review[] = [];

async function change(but: (review: Review) => Partial<Review>) {
  reviews = reviews.map((review) => ({ ...review, version: review.version + 1, ...but(review) }));
  await storeReviews(reviews);
}

const steps = {
  'publications that have votes': () => change(() => ({})),
  votes: () => change(({ popularity }) => ({ popularity: popularity + 1 })),
  'edits from text to both': () => change(({ text }) => (text === null ? {} : { rating: 4 })),
  removals: () => batchDelete(reviews.map(({ id }) => reviewKey(id))),
};
type Step = keyof typeof steps;

describe.each<[string, number, Step[]]>([
  ['one block of 21 days', blockLength, Object.keys(steps) as Step[]],
  [
    'one slot of four hours',
    slotLength,
    ['publications that have votes', 'edits from text to both'],
  ],
])('a batch of 1,000 records of %s counts exactly', (_, length, some) => {
  beforeAll(() => {
    reviews = reviewsOver(length);
  });

  test.each(some)('%s', async (step) => {
    await steps[step]();
    await expectCounted();
  });
});
