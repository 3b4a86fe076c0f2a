import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/update-aggregates.ts';
import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { type Consumer, consumers, isFor } from '../../shared/background/consumers.ts';
import type { Review } from '../../shared/review/review.ts';
import { reviewItem } from '../../shared/review/review-writes.ts';
import { batchDelete, batchWrite } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { restore } from '../helpers/clock.ts';
import { scanTable } from '../helpers/items.ts';
import { aggregateDifferences } from '../helpers/recount.ts';
import { readStream } from '../helpers/stream.ts';
import { makeUser, reviewBy } from '../helpers/world.ts';

const consumer = consumers.find(({ operation }) => operation === 'update-aggregates') as Consumer;

/** Each batch meets exact numbers, whatever became of the batch before. */
beforeEach(async () => {
  for (const level of ['warn', 'error'] as const) {
    jest.spyOn(console, level).mockImplementation(() => {});
  }
  await batchDelete(await deferred());
  await rebuildTotals();
  await readStream();
});
afterEach(restore);

const minute = 60_000;
/** The trees by date count 512 hours as one block. One of them begins here. */
const block = Date.parse('2026-10-10T00:00:00.000Z');
const blockLength = 512 * 60 * minute;
/** A block has 128 slots. */
const slotLength = 240 * minute;

/** Makes 1,000 public reviews with a few votes each, over a time that ends with the block. */
function reviewsOver(length: number): Review[] {
  const from = block + blockLength - length;
  return Array.from({ length: 1000 }, (_, i) => ({
    ...reviewBy(randomUUID()),
    published_on: new Date(from + Math.floor((i * length) / 1000)).toISOString(),
    popularity: [1, -1, 2, 3, 7, -2, 0][i % 7] ?? 0,
    text: i % 3 === 0 ? null : 'A record.',
    rating: i % 3 === 0 ? 2 : null,
  }));
}

/** Returns the records that the consumer receives of what was written since the last call. */
async function records(): Promise<DynamoDBRecord[]> {
  return (await readStream()).filter((record) => isFor(consumer, record));
}

const deferred = async () => (await scanTable()).filter(({ pk }) => pk === 'DEFERRED');

async function deliver(Records: DynamoDBRecord[]): Promise<void> {
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
  expect(console.warn).not.toHaveBeenCalled();
}

/** Delivers a batch of 1,000, then a record of another shard. All numbers must then be exact. */
async function expectCounted(): Promise<void> {
  const batch = await records();
  expect(batch.length).toBe(1000);
  await deliver(batch);
  await makeUser();
  await deliver(await records());
  expect(await deferred()).toEqual([]);
  expect(await aggregateDifferences()).toEqual([]);
}

let reviews: Review[] = [];

async function change(but: (review: Review) => Partial<Review>): Promise<void> {
  reviews = reviews.map((review) => ({ ...review, version: review.version + 1, ...but(review) }));
  await batchWrite(reviews.map((review) => ({ put: reviewItem(review) })));
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
