import { createHash, randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, jest, test } from '@jest/globals';
import { handler as createReview } from '../../../functions/create-review.ts';
import { handler as deleteMe } from '../../../functions/delete-me.ts';
import { handler as exportMe } from '../../../functions/export-me.ts';
import { handler as listMyReviews } from '../../../functions/list-my-reviews.ts';
import { handler as listReviews } from '../../../functions/list-reviews.ts';
import { findOrCreateUser } from '../../../shared/account/identity-repository.ts';
import { listDecisions } from '../../../shared/moderation/decision-log.ts';
import { decideUser, setHidden } from '../../../shared/moderation/decision-repository.ts';
import { allowReview, listHiddenClaims } from '../../../shared/moderation/hidden-claims.ts';
import { hiddenClaimItem, markOf } from '../../../shared/review/hidden-claim.ts';
import { finishDeletion } from '../../../shared/review/review-repository.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import { claimKey, identityKey, reviewKey, userKey } from '../../../shared/table/keys.ts';
import { collect, queryItems } from '../../../shared/table/query.ts';
import {
  makeHidden,
  makeModerator,
  makeReview,
  makeUser,
  remove,
  reviewBody,
  type TestUser,
} from '../../helpers/fixtures.ts';
import { invoke } from '../../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../../helpers/items.ts';
import { expectExact } from '../../helpers/recount.ts';
import { beforeSend } from '../../helpers/sends.ts';
import { applyStream } from '../../helpers/stream.ts';

const operator = { reason: 'other', note: 'A mistake.', moderator_id: null } as const;
const message = 'A moderator has hidden your review of this';
const marked_at = expect.stringMatching(/^\d{4}-.*Z$/);

const publish = ({ caller }: TestUser, content: Record<string, unknown>) =>
  invoke(createReview, { method: 'POST', caller, body: reviewBody(content) });

/** Makes a review that is hidden, then deleted by its author. */
async function hiddenAndDeleted(author: TestUser, content: Record<string, unknown> = {}) {
  const entity_id = randomUUID();
  const review_id = await makeHidden(author, { entity_id, ...content });
  expect((await remove(author, review_id)).status).toBe(200);
  return { entity_id, review_id };
}

test.each([{}, { is_draft: true }])(
  'deleting a hidden review does not allow publishing it again: %j',
  async (content) => {
    const [ann, ben] = [await makeUser(), await makeUser()];
    const { entity_id, review_id } = await hiddenAndDeleted(ann, content);
    for (const again of [{}, { is_draft: true }, { rating: null }]) {
      const { status, body } = await publish(ann, { entity_id, ...again });
      expect([status, body.error, body.description]).toEqual([403, 'access_denied', message]);
    }
    await applyStream();
    expect((await publish(ann, { entity_id })).status).toBe(403);
    // Other users can review the entity, and its author can review other entities.
    expect((await publish(ben, { entity_id })).status).toBe(200);
    expect((await publish(ann, {})).status).toBe(200);
    const mark = { entity_id, entity_type: 'release_group', review_id, marked_at };
    expect(await listHiddenClaims(ann.id)).toEqual([{ user_id: ann.id, ...mark }]);
    expect((await invoke(listMyReviews, { caller: ann.caller })).body).toMatchObject({ count: 1 });
    const query = { user_id: ann.id, entity_id };
    expect((await invoke(listReviews, { query })).body).toMatchObject({ count: 0, reviews: [] });
    await expectExact();
  },
);

/** Hides a review. Returns whether it still existed. */
const hide = (id: string): Promise<boolean> =>
  setHidden(id, true).then(
    () => true,
    ({ status }) => status !== 404,
  );

/** Makes a person who can sign in repeatedly, with one account after another. */
function person() {
  const [issuer, subject] = ['https://id.example', randomUUID()];
  const profile = { display_name: 'Zoë', email: null, musicdb_username: null };
  const signIn = async (): Promise<TestUser> => {
    const user = await findOrCreateUser({ issuer, subject, ...profile });
    return { ...user, caller: { user_id: user.id, client_id: 'x', scope: 'user review' } };
  };
  const leave = async ({ caller }: TestUser) => {
    expect((await invoke(deleteMe, { method: 'DELETE', caller })).status).toBe(200);
  };
  const hash = createHash('sha256').update(JSON.stringify([issuer, subject]));
  return { signIn, leave, key: identityKey(hash.digest('hex')) };
}

/** Tests which entities the next account may review again. */
async function allowedOf(user: TestUser, entities: readonly string[]): Promise<boolean[]> {
  const answers = [];
  for (const entity_id of entities) answers.push(await publish(user, { entity_id }));
  for (const { status, body } of answers) {
    if (status !== 200) expect([status, body.description]).toEqual([403, message]);
  }
  return answers.map(({ status }) => status === 200);
}

test.each(['at once', 'when the account is erased'])(
  'a hidden review cannot be published by the next account, signed in %s',
  async (when) => {
    const { signIn, leave, key } = person();
    const first = await signIn();
    const deleted = (await hiddenAndDeleted(first)).entity_id;
    const [hidden, draft, restored] = [randomUUID(), randomUUID(), randomUUID()];
    const [allowed, open, never] = [randomUUID(), randomUUID(), randomUUID()];
    const review_id = await makeHidden(first, { entity_id: hidden });
    await makeHidden(first, { entity_id: draft, is_draft: true });
    await setHidden(await makeHidden(first, { entity_id: restored }), false);
    await remove(first, await makeReview(first, { entity_id: allowed }));
    await makeReview(first, { entity_id: open });
    let last = first;
    // The marks survive each account of the person.
    for (const _ of [1, 2]) {
      await leave(last);
      if (when !== 'at once') {
        await applyStream();
        const left = (await scanTable()).filter(({ pk }) => pk === userKey(last.id).pk);
        expect(left).toMatchObject([{ sk: 'PROJECTION' }]);
      }
      last = await signIn();
      expect(await allowedOf(last, [deleted, hidden, draft])).toEqual([false, false, false]);
      expect(await readItem(key)).toEqual({ ...key, user_id: last.id });
    }
    expect(await allowedOf(last, [restored, allowed, open, never])).toEqual(Array(4).fill(true));
    // The export lists the mark, and a moderator can allow the review as before.
    const { body } = await invoke(exportMe, { caller: last.caller });
    expect(body.hidden_and_deleted).toHaveLength(3);
    const mark = { entity_id: hidden, entity_type: 'release_group', review_id, marked_at };
    expect(body.hidden_and_deleted).toContainEqual(mark);
    expect(await allowReview(last.id, hidden, operator)).toMatchObject({ review_id });
    expect(await allowedOf(last, [hidden, deleted])).toEqual([true, false]);
    await expectExact();
  },
);

test('a review that was public or restored can be published again', async () => {
  const ann = await makeUser();
  const entity_id = randomUUID();
  const restored = await makeHidden(ann, { entity_id });
  await setHidden(restored, false);
  await remove(ann, restored);
  const id = (await publish(ann, { entity_id })).body.id;
  // The state after a deletion that votes kept from finishing.
  await setAttributes(reviewKey(id), { is_hidden: true, deleted_at: new Date().toISOString() });
  await finishDeletion(id);
  expect((await publish(ann, { entity_id })).status).toBe(200);
});

test('a deletion racing with a decision marks hidden reviews only', async () => {
  const ann = await makeUser();
  for (let i = 0; i < 15; i++) {
    const entity_id = randomUUID();
    const id = await makeReview(ann, { entity_id });
    const [isHidden] = await Promise.all([hide(id), remove(ann, id)]);
    expect((await publish(ann, { entity_id })).status).toBe(isHidden ? 403 : 200);
  }
});

test('a moderator or the operator allows a new review once, which is logged', async () => {
  const [ann, mia] = [await makeUser(), await makeModerator('Mia')];
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
  // The claim of an existing review is no mark.
  await expect(allowReview(ann.id, entity_id, by)).rejects.toMatchObject({ status: 400 });
  await remove(ann, allowed.body.id);
  expect((await publish(ann, { entity_id })).status).toBe(200);
});

test('a moderator cannot allow a new review to themselves', async () => {
  const mia = await makeModerator('Mia');
  const { entity_id } = await hiddenAndDeleted(mia);
  const by = { ...operator, moderator_id: mia.id };
  const message = 'This review was your own: another moderator decides on it';
  const refused = { status: 400, message };
  await expect(allowReview(mia.id, entity_id, by)).rejects.toMatchObject(refused);
  await allowReview(mia.id, entity_id, operator);
  expect((await publish(mia, { entity_id })).status).toBe(200);
});

test('an identity without hidden reviews is deleted', async () => {
  const { signIn, leave, key } = person();
  const user = await signIn();
  await makeReview(user);
  await leave(user);
  expect(await readItem(key)).toBeUndefined();
});

test('an account deletion racing with a decision marks hidden reviews only', async () => {
  const { signIn, leave } = person();
  for (let i = 0; i < 15; i++) {
    const user = await signIn();
    const entity_id = randomUUID();
    const id = await makeReview(user, { entity_id });
    const [isHidden] = await Promise.all([hide(id), leave(user)]);
    expect(await allowedOf(await signIn(), [entity_id])).toEqual([!isHidden]);
  }
});

test.each(['sign-in', 'eraser'])(
  'the next %s finishes a deletion that stopped half-way',
  async (by) => {
    const { signIn, leave, key } = person();
    const user = await signIn();
    const { entity_id } = await hiddenAndDeleted(user);
    await decideUser(user.id, 'block', operator);
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    let isDeleted = false;
    const spy = beforeSend((command) => {
      if (isDeleted) throw new Error('down');
      isDeleted = command instanceof TransactWriteCommand;
    });
    await leave(user);
    spy.mockRestore();
    expect(await readItem(key)).toMatchObject({ user_id: user.id });
    if (by === 'eraser') {
      await applyStream();
      expect(await readItem(key)).toMatchObject({ hidden: [{ entity_id }] });
      expect(await readItem(key)).not.toHaveProperty('user_id');
    }
    const next = await signIn();
    expect(next.id).not.toBe(user.id);
    await decideUser(next.id, 'unblock', operator);
    expect(await allowedOf(next, [entity_id])).toEqual([false]);
  },
);

test('many marks, beyond one transaction, are written before the next sign-in', async () => {
  const { signIn, leave, key } = person();
  const user = await signIn();
  const entities = Array.from({ length: 250 }, () => randomUUID());
  const entity_type = 'release_group';
  const marks = entities.map((entity_id) => markOf({ id: entity_id, entity_id, entity_type }));
  await batchWrite(marks.map((mark) => ({ put: hiddenClaimItem(user.id, mark) })));
  const [, ...during] = await Promise.all([leave(user), signIn(), signIn()]);
  const after = await Promise.all(Array.from({ length: 6 }, signIn));
  expect(new Set(after.map(({ id }) => id)).size).toBe(1);
  for (const { id } of [...during, ...after]) expect([user.id, after[0]?.id]).toContain(id);
  const ids = await collect(queryItems(claimKey(after[0]?.id ?? '', '')));
  expect(ids.map(({ entity_id }) => entity_id)).toEqual(entities.toSorted());
  expect(await readItem(key)).toEqual({ ...key, user_id: after[0]?.id });
});

test('an identity with very many hidden reviews keeps the last deleted ones', async () => {
  const { signIn, leave, key } = person();
  const user = await signIn();
  const marks = Array.from({ length: 2003 }, (_, i) => ({
    ...markOf({ id: randomUUID(), entity_id: randomUUID(), entity_type: 'release_group' }),
    marked_at: new Date(i).toISOString(),
  }));
  await batchWrite(marks.toReversed().map((mark) => ({ put: hiddenClaimItem(user.id, mark) })));
  await leave(user);
  expect(await readItem(key)).toEqual({ ...key, hidden: marks.slice(3) });
});
