import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { handler as createReview } from '../../../functions/create-review.ts';
import { handler as deleteReview } from '../../../functions/delete-review.ts';
import { handler as listMyReviews } from '../../../functions/list-my-reviews.ts';
import { handler as listReviews } from '../../../functions/list-reviews.ts';
import { deleteAccount } from '../../../shared/account/delete-account.ts';
import { listDecisions, setHidden } from '../../../shared/moderation/decision-repository.ts';
import { allowReview, listHiddenClaims } from '../../../shared/moderation/hidden-claims.ts';
import { finishDeletion } from '../../../shared/review/review-repository.ts';
import { reviewKey, userKey } from '../../../shared/table/keys.ts';
import { setModerator } from '../../../shared/user/user-repository.ts';
import {
  applyStream,
  makeReview,
  makeUser,
  reviewBody,
  scanTable,
  setAttributes,
  type TestUser,
} from '../../helpers/fixtures.ts';
import { invoke } from '../../helpers/invoke.ts';
import { differences } from '../../helpers/recount.ts';

const operator = { reason: 'other', note: 'A mistake.', moderator_id: null } as const;
const message = 'A moderator has hidden your review of this';

function publish({ caller }: TestUser, content: Record<string, unknown>) {
  return invoke(createReview, { method: 'POST', caller, body: reviewBody(content) });
}

function remove({ caller }: TestUser, review_id: string) {
  return invoke(deleteReview, { method: 'DELETE', caller, path: { review_id } });
}

/** A review that was hidden, and that its author has deleted then. */
async function hiddenAndDeleted(author: TestUser, content: Record<string, unknown> = {}) {
  const entity_id = randomUUID();
  const review_id = await makeReview(author, { entity_id, ...content });
  await setHidden(review_id, true);
  expect((await remove(author, review_id)).status).toBe(200);
  return { entity_id, review_id };
}

test.each([{}, { is_draft: true }])(
  'who deletes a hidden review cannot publish it again: %j',
  async (content) => {
    const [ann, ben] = [await makeUser(), await makeUser()];
    const { entity_id, review_id } = await hiddenAndDeleted(ann, content);
    for (const again of [{}, { is_draft: true }, { rating: null }]) {
      const { status, body } = await publish(ann, { entity_id, ...again });
      expect([status, body.error, body.description]).toEqual([403, 'access_denied', message]);
    }
    await applyStream();
    expect((await publish(ann, { entity_id })).status).toBe(403);
    // Others can, and she can review all else.
    expect((await publish(ben, { entity_id })).status).toBe(200);
    expect((await publish(ann, {})).status).toBe(200);
    expect(await listHiddenClaims(ann.id)).toEqual([
      {
        user_id: ann.id,
        entity_id,
        entity_type: 'release_group',
        review_id,
        marked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
    expect((await invoke(listMyReviews, { caller: ann.caller })).body).toMatchObject({ count: 1 });
    const query = { user_id: ann.id, entity_id };
    expect((await invoke(listReviews, { query })).body).toMatchObject({ count: 0, reviews: [] });
    await applyStream();
    expect(await differences()).toEqual([]);
  },
);

test('a review that was public, or was restored, is published again', async () => {
  const ann = await makeUser();
  const entity_id = randomUUID();
  const restored = await makeReview(ann, { entity_id });
  await setHidden(restored, true);
  await setHidden(restored, false);
  await remove(ann, restored);
  const id = (await publish(ann, { entity_id })).body.id;
  // As a deletion leaves it that votes kept from being done at once.
  await setAttributes(reviewKey(id), { is_hidden: true, deleted_at: new Date().toISOString() });
  await finishDeletion(id);
  expect((await publish(ann, { entity_id })).status).toBe(200);
});

test('a deletion beside a decision is of a hidden review, or of none that could be hidden', async () => {
  const ann = await makeUser();
  for (let i = 0; i < 15; i++) {
    const entity_id = randomUUID();
    const id = await makeReview(ann, { entity_id });
    const [isHidden] = await Promise.all([
      setHidden(id, true).then(
        () => true,
        ({ status }) => status !== 404,
      ),
      remove(ann, id),
    ]);
    expect((await publish(ann, { entity_id })).status).toBe(isHidden ? 403 : 200);
  }
});

test('a moderator or the operator allows another one, once, and the log has it', async () => {
  const [ann, mia] = [await makeUser(), await makeUser()];
  await setModerator(mia.id, true);
  const { entity_id, review_id } = await hiddenAndDeleted(ann);
  const by = { ...operator, moderator_id: mia.id };
  for (const [user_id, entity] of [
    [ann.id, randomUUID()],
    [mia.id, entity_id],
    [randomUUID(), entity_id],
  ] as const) {
    await expect(allowReview(user_id, entity, by)).rejects.toMatchObject({ status: 400 });
  }
  const other = { ...operator, moderator_id: ann.id };
  await expect(allowReview(ann.id, entity_id, other)).rejects.toMatchObject({ status: 400 });
  const stranger = { ...operator, moderator_id: (await makeUser()).id };
  await expect(allowReview(ann.id, entity_id, stranger)).rejects.toMatchObject({ status: 404 });
  expect((await publish(ann, { entity_id })).status).toBe(403);

  const tries = await Promise.allSettled(
    [by, by, operator, operator].map((who) => allowReview(ann.id, entity_id, who)),
  );
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const { decisions } = await listDecisions(10, { userId: ann.id });
  expect(decisions).toMatchObject([
    { decision: 'allow', review_id, user_id: ann.id, note: 'A mistake.', reports: 0 },
    { decision: 'hide', review_id },
  ]);
  expect(await listHiddenClaims(ann.id)).toEqual([]);
  const allowed = await publish(ann, { entity_id });
  expect(allowed.status).toBe(200);
  // The claim of a review that is there is no mark.
  await expect(allowReview(ann.id, entity_id, by)).rejects.toMatchObject({ status: 400 });
  await remove(ann, allowed.body.id);
  expect((await publish(ann, { entity_id })).status).toBe(200);
});

test('who is a moderator allows nothing to themselves', async () => {
  const mia = await makeUser();
  await setModerator(mia.id, true);
  const { entity_id } = await hiddenAndDeleted(mia);
  const by = { ...operator, moderator_id: mia.id };
  await expect(allowReview(mia.id, entity_id, by)).rejects.toMatchObject({
    status: 400,
    message: 'This review was your own: another moderator decides on it',
  });
  await allowReview(mia.id, entity_id, operator);
  expect((await publish(mia, { entity_id })).status).toBe(200);
});

test('an erased account leaves no claim', async () => {
  const ann = await makeUser();
  await hiddenAndDeleted(ann);
  await setHidden(await makeReview(ann), true);
  await deleteAccount(ann.id);
  await applyStream();
  const left = (await scanTable()).filter(({ pk }) => pk === userKey(ann.id).pk);
  expect(left).toMatchObject([{ sk: 'PROJECTION' }]);
  expect(await listHiddenClaims(ann.id)).toEqual([]);
});
