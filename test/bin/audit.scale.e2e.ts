import { expect, test } from '@jest/globals';
import { listed } from '../../bin/bench/oracle.ts';
import { withoutStream } from '../../bin/seed.ts';
import { handler as getEntity } from '../../functions/get-entity.ts';
import { handler as listReviews } from '../../functions/list-reviews.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { audit } from '../../shared/audit/audit.ts';
import type { Review } from '../../shared/review/review.ts';
import { reviewItem } from '../../shared/review/review-writes.ts';
import { batchWrite, type Item } from '../../shared/table/batch.ts';
import { entityKey, userKey } from '../../shared/table/keys.ts';
import {
  applyStream,
  makeLongLists,
  makeUser,
  readItem,
  scanTable,
  setAttributes,
} from '../fixtures.ts';
import { invoke } from '../invoke.ts';
import { differences } from '../recount.ts';

type Query = Record<string, string>;

/** How many differences a repairing audit of some items has found and mended. */
async function repair(isDue: (item: Item) => boolean) {
  const sum = { found: 0, repaired: 0 };
  for await (const { differences, repaired } of audit({ repair: true, settle: 0, isDue })) {
    sum.found += differences.length;
    sum.repaired += repaired;
  }
  return sum;
}

function list(query: Query) {
  return invoke(listReviews, { query });
}

async function idsOf(query: Query): Promise<string[]> {
  const { status, body } = await list(query);
  expect({ query, status }).toEqual({ query, status: 200 });
  return body.reviews.map(({ id }: { id: string }) => id);
}

function expectedIds(reviews: readonly Review[], query: Query): string[] {
  const offset = Number(query.offset);
  return listed(reviews, query)
    .map(({ id }) => id)
    .slice(offset, offset + 50);
}

test('a table of before stars were counted is listed as ever, and by stars once an audit has repaired it and the stream is followed', async () => {
  const author = await makeUser();
  let hot = '';
  let written: Review[] = [];
  const owners = () => [entityKey(hot), userKey(author.id)];
  await withoutStream(async () => {
    hot = await makeLongLists(author, ({ id }) => {
      return { rating: 1 + (Number.parseInt(id.slice(0, 4), 16) % 5) };
    });
    const items = await scanTable();
    written = items.filter(({ sk }) => sk === 'REVIEW') as unknown as Review[];
    await batchWrite(
      written.map((review) => ({ put: { ...reviewItem(review), version: 1, kind: 'both' } })),
    );
    const stars = ['1', '2', '3', '4', '5'].map((rating) => [`work|en|both${rating}`, 0]);
    const counted = { ...Object.fromEntries(stars), 'work|en|both': written.length };
    for (const key of owners()) await setAttributes(key, counted);
  });
  await rebuildTotals();
  await applyStream();
  expect(await readItem(entityKey(hot))).toMatchObject({ rank_tree: 'ready' });

  const far = { entity_id: hot, offset: '380' };
  expect(await idsOf(far)).toEqual(expectedIds(written, far));
  const starred = { entity_id: hot, offset: '320', sort: 'popularity', rating: '2,3,4,5' };
  expect((await list(starred)).status).toBe(503);
  // An edit by the new version of what the old one has counted.
  const [edited] = written as [Review];
  const change = { rating: ((edited.rating ?? 0) % 5) + 1 };
  const path = { review_id: edited.id };
  await invoke(updateReview, { caller: author.caller, path, body: change });
  expect((await list(starred)).status).toBe(503);

  // What comes first in the table may have to wait for what comes last.
  const isOwner = ({ pk, sk }: Item) => owners().some((key) => key.pk === pk && key.sk === sk);
  const first = await repair(isOwner);
  expect(first.found).toBeGreaterThan(0);
  expect(first.repaired).toBe(0);
  // All but the one that was edited; and a claim, which all of them share here as no user's reviews do.
  const ofReviews = await repair(({ sk }) => sk === 'REVIEW');
  expect(ofReviews.repaired).toBe(written.length - 1 + 1);
  const last = await repair(isOwner);
  expect(last).toEqual({ found: first.found, repaired: first.found });
  await applyStream();

  const now = written.map((review) => (review === edited ? { ...review, ...change } : review));
  for (const rating of ['1', '2,3,4,5']) {
    for (const sort of ['published_on', 'popularity']) {
      for (const offset of ['0', '40', '280']) {
        const query = { entity_id: hot, rating, sort, offset };
        expect({ query, ids: await idsOf(query) }).toEqual({ query, ids: expectedIds(now, query) });
      }
    }
  }
  const { body } = await invoke(getEntity, { path: { entity_id: hot } });
  const numbers = [1, 2, 3, 4, 5].map((stars) => {
    return [stars, now.filter(({ rating }) => rating === stars).length];
  });
  expect(body.entity.ratings).toEqual(Object.fromEntries(numbers));
  expect((await differences()).filter((line) => !line.includes('CLAIM#'))).toEqual([]);
}, 120_000);
