import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { handler as feed } from '../../../functions/feed.ts';
import { handler as listReviews } from '../../../functions/list-reviews.ts';
import { contributionOf } from '../../../shared/feed/contribution.ts';
import { applyContributions } from '../../../shared/feed/feed.ts';
import { setHidden } from '../../../shared/review/review-repository.ts';
import { limits } from '../../../shared/table/read-entries.ts';
import { makeReview, makeUsers, readStream, recount, scanTable } from '../../fixtures.ts';
import { invoke } from '../../invoke.ts';

const usual = { ...limits };

beforeEach(() => {
  Object.assign(limits, { skipped: 6, halfUnit: 0.3 });
});
afterEach(() => {
  Object.assign(limits, usual);
});

async function burst(size: number): Promise<string[]> {
  const users = await makeUsers(size);
  return Promise.all(users.map((user) => makeReview(user, { entity_type: 'work' })));
}

async function records() {
  return (await readStream()).filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === 'REVIEW');
}

async function expectAllDivided(): Promise<void> {
  const applied = (await scanTable()).filter(
    ({ sk, pk, counted }) => sk === 'FEED' && pk.startsWith('REVIEW#') && counted,
  );
  expect(applied.length).toBeGreaterThan(limits.skipped);
  expect(applied.filter(({ is_divided }) => !is_divided)).toEqual([]);
  const { stored, counted } = await recount();
  const ofReviews = ([key]: [string, unknown]) => key.startsWith('FEED#all');
  expect(Object.entries(stored).filter(ofReviews)).toEqual(
    Object.entries(counted).filter(ofReviews),
  );
}

async function pages(query: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += 3) {
    const { body } = await invoke(listReviews, {
      query: { ...query, limit: '3', offset: `${offset}` },
    });
    if (body.reviews.length === 0) return ids;
    ids.push(...body.reviews.map(({ id }: { id: string }) => id));
  }
}

describe('a slot that a burst fills', () => {
  test('gives all its pages as long as it is being divided', async () => {
    // The second half counts by the minute, for the first half made the slot large.
    for (const size of [40, 40]) {
      await burst(size);
      const some = await records();
      await applyContributions(some.flatMap((record) => contributionOf(record) ?? []));
    }
    const queries: Record<string, string>[] = [{}, { entity_type: 'work', review_type: 'rating' }];
    for (const query of queries) {
      const { body } = await invoke(listReviews, { query: { ...query, limit: '0' } });
      const ids = await pages(query);
      expect({ query, ids: new Set(ids).size }).toEqual({ query, ids: body.count });
    }
  });

  test('is divided whatever batches work on it at the same time', async () => {
    await burst(30);
    const all = await records();
    await Promise.all(
      [0, 1, 2, 3].map((i) => feed({ Records: all.filter((_, at) => at % 4 === i) })),
    );
    await expectAllDivided();
  });

  test('is divided by the next attempt when the first one died before it came to that', async () => {
    await burst(10);
    const all = await records();
    await applyContributions(all.flatMap((record) => contributionOf(record) ?? []));
    await feed({ Records: all });
    await expectAllDivided();
  });

  test('takes in what comes, goes and comes back', async () => {
    const ids = await burst(8);
    await feed({ Records: await records() });
    for (const id of ids) await setHidden(id, true);
    await feed({ Records: await records() });
    for (const id of ids.slice(0, 3)) await setHidden(id, false);
    await feed({ Records: await records() });
    await expectAllDivided();
  });

  test.each<Record<string, string>>([
    {},
    { entity_type: 'work', language: 'en' },
    { sort: 'popularity' },
  ])('gives all its pages, %j', async (query) => {
    const { body } = await invoke(listReviews, { query: { ...query, limit: '0' } });
    const ids = await pages(query);
    expect(ids.length).toBe(body.count);
    expect(new Set(ids).size).toBe(body.count);
  });
});
