import { expect, test } from '@jest/globals';
import { listDecisions } from '../../../shared/moderation/decision-log.ts';
import { decideReview } from '../../../shared/moderation/decision-repository.ts';
import { hideReviews, type Step } from '../../../shared/moderation/hide-reviews.ts';
import { insertReport } from '../../../shared/moderation/report-repository.ts';
import { caseKey, reviewKey, userKey } from '../../../shared/table/keys.ts';
import { stopClock } from '../../helpers/clock.ts';
import {
  edit,
  makeModerator,
  makeReview,
  makeUser,
  remove,
  type TestUser,
} from '../../helpers/fixtures.ts';
import { readItem, setAttributes } from '../../helpers/items.ts';
import { expectExact } from '../../helpers/recount.ts';

const [mia, ben] = [await makeModerator('Mia'), await makeModerator('Ben')];
const why = { reason: 'spam', note: 'A shop.' } as const;
const byMia = { ...why, moderator_id: mia.id };

async function written(count: number) {
  const author = await makeUser();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await makeReview(author));
  return { author, ids };
}

/** The time a moment later, so that everything before it is seen. */
function look(): string {
  stopClock(Date.now() + 2);
  const seenAt = new Date().toISOString();
  stopClock(Date.now() + 2);
  return seenAt;
}

const logOf = async ({ id: userId }: TestUser) => (await listDecisions(1000, { userId })).decisions;

const isHidden = async (id: string): Promise<boolean> =>
  (await readItem(reviewKey(id)))?.is_hidden === true;

test('25 reviews at a time are hidden, each by a decision of its own', async () => {
  const { author, ids } = await written(30);
  const draft = await makeReview(author, { is_draft: true });
  await insertReport({ id: `${ids[0]}`, user_id: author.id }, { user_id: ben.id, reason: 'spam' });
  const seenAt = look();
  const first = await hideReviews(author.id, byMia, seenAt);
  expect(first).toEqual({ hidden: 25, left: [], next: expect.any(String) });
  expect(await hideReviews(author.id, byMia, seenAt, first.next)).toEqual({ hidden: 5, left: [] });
  // The same steps once more.
  for (const after of [undefined, first.next]) {
    expect(await hideReviews(author.id, byMia, seenAt, after)).toEqual({ hidden: 0, left: [] });
  }
  const log = await logOf(author);
  expect(log.map(({ review_id }) => review_id).toSorted()).toEqual(ids.toSorted());
  for (const decision of log) {
    const reports = decision.review_id === ids[0] ? 1 : 0;
    expect(decision).toMatchObject({ ...byMia, decision: 'hide', reports, user_id: author.id });
  }
  expect(await readItem(caseKey(`${ids[0]}`))).toMatchObject({ state: 'closed', reports: 0 });
  expect(await isHidden(draft)).toBe(false);
  await expectExact();
});

test('what the moderator has not seen, or may not decide on, stays public', async () => {
  const { author, ids } = await written(4);
  const [reported, edited, dismissed, plain] = ids as [string, string, string, string];
  await insertReport({ id: reported, user_id: author.id }, { user_id: mia.id, reason: 'spam' });
  const { id: user_id } = await makeUser();
  await insertReport({ id: dismissed, user_id: author.id }, { user_id, reason: 'x' });
  const seenAt = look();
  await edit(author, edited, { rating: 1 });
  await decideReview(dismissed, 'dismiss', { ...why, moderator_id: ben.id });
  const published = await makeReview(author);
  const { hidden, left } = await hideReviews(author.id, byMia, seenAt);
  const changed = 'It was changed or decided on since you opened the page';
  expect(hidden).toBe(1);
  expect(Object.fromEntries(left.map(({ review, why }) => [review.id, why]))).toEqual({
    [reported]: 'You have reported this review: another moderator decides on it',
    [edited]: changed,
    [dismissed]: changed,
  });
  expect(await isHidden(plain)).toBe(true);
  for (const id of [reported, edited, dismissed, published]) expect(await isHidden(id)).toBe(false);
});

test('nobody hides the own reviews, or without being a moderator', async () => {
  const id = await makeReview(mia);
  await expect(hideReviews(mia.id, byMia, look())).rejects.toMatchObject({ status: 400 });
  expect(await isHidden(id)).toBe(false);
  const { author, ids } = await written(2);
  const former = await makeUser();
  const blocked = await makeModerator('Bea');
  await setAttributes(userKey(blocked.id), { blocked_at: new Date().toISOString() });
  for (const { id: moderator_id } of [former, blocked, author]) {
    const refused = hideReviews(author.id, { ...why, moderator_id }, look());
    await expect(refused).rejects.toMatchObject({ status: moderator_id === author.id ? 400 : 404 });
  }
  for (const id of ids) expect(await isHidden(id)).toBe(false);
});

test('beside single decisions, edits, deletions and itself, each review is decided on once', async () => {
  for (let round = 0; round < 3; round++) {
    const { author, ids } = await written(12);
    const seenAt = look();
    const by = { ...why, moderator_id: ben.id };
    const outcomes = await Promise.allSettled([
      hideReviews(author.id, byMia, seenAt),
      hideReviews(author.id, byMia, seenAt),
      ...ids.slice(0, 4).map((id) => decideReview(id, 'hide', by)),
      ...ids.slice(4, 8).map((id) => edit(author, id, { rating: 1 })),
      ...ids.slice(8, 10).map((id) => remove(author, id)),
    ]);
    for (const outcome of outcomes) {
      // The second of two single decisions comes too late.
      if (outcome.status === 'rejected') expect(outcome.reason.status).toBe(400);
    }
    const steps = outcomes.slice(0, 2).flatMap((outcome) => {
      return outcome.status === 'fulfilled' ? [outcome.value as Step] : [];
    });
    for (const { review } of steps.flatMap(({ left }) => left)) {
      expect(await isHidden(review.id)).toBe(false);
    }
    const log = await logOf(author);
    const ofMia = log.filter(({ moderator_id }) => moderator_id === mia.id);
    expect(steps.reduce((sum, { hidden }) => sum + hidden, 0)).toBe(ofMia.length);
    for (const id of ids) {
      const decisions = log.filter(({ review_id }) => review_id === id);
      const review = await readItem(reviewKey(id));
      expect(decisions.length).toBeLessThanOrEqual(1);
      if (review) expect(review.is_hidden).toBe(decisions.length === 1);
    }
    expect(ids.slice(10).every((id) => log.some(({ review_id }) => review_id === id))).toBe(true);
    await expectExact();
  }
});
