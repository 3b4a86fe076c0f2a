import { createHash, randomUUID } from 'node:crypto';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { collect, queryItems } from '../../../../shared/base/table/query.ts';
import { claimKey, identityKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { listDecisions } from '../../../../shared/core/report/decision-log.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { hiddenClaimItem, markOf } from '../../../../shared/core/review/hidden-claim.ts';
import { finishDeletion } from '../../../../shared/core/review/review-repository.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import {
  allowReview,
  listHiddenClaims,
} from '../../../../shared/features/moderation/hidden-claims.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  makeModerator,
  makeUser,
  type Person,
  reviewBody,
  signIn,
  visitor,
} from '../../../helpers/world.ts';

const operator = { reason: 'other', note: 'A mistake.', moderator_id: null } as const;
const message = 'A moderator has hidden your review of this';
const marked_at = expect.stringMatching(/^\d{4}-.*Z$/);

/** Makes a review that is hidden, then deleted by its author. */
async function hiddenAndDeleted(author: Person, content: Record<string, unknown> = {}) {
  const entity_id = randomUUID();
  const review_id = await author.publishesHidden({ entity_id, ...content });
  expect(await author.deletes(review_id)).toHaveStatus(200);
  return { entity_id, review_id };
}

test.each([{}, { is_draft: true }])(
  'deleting a hidden review does not allow publishing it again: %j',
  async (content) => {
    const ann = await makeUser();
    const ben = await makeUser();
    const { entity_id, review_id } = await hiddenAndDeleted(ann, content);
    for (const again of [{}, { is_draft: true }, { rating: null }]) {
      const { status, body } = await ann.triesToPublish(reviewBody({ entity_id, ...again }));
      expect(status).toBe(403);
      expect(body.error).toBe('access_denied');
      expect(body.description).toEqual(message);
    }
    await applyStream();
    expect(await ann.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(403);
    // Other users can review the entity, and its author can review other entities.
    expect(await ben.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(200);
    expect(await ann.triesToPublish(reviewBody())).toHaveStatus(200);
    const mark = { entity_id, entity_type: 'release_group', review_id, marked_at };
    expect(await listHiddenClaims(ann.id)).toEqual([{ user_id: ann.id, ...mark }]);
    expect((await ann.listsOwnReviews()).body).toMatchObject({ count: 1 });
    const query = { user_id: ann.id, entity_id };
    expect((await visitor.lists(query)).body).toMatchObject({ count: 0, reviews: [] });
    await expectExact();
  },
);

/** Hides a review. Returns whether it still existed. */
const hide = (id: string): Promise<boolean> =>
  setHidden(id, true).then(
    () => true,
    ({ status }) => status !== 404,
  );

/** An identity that signs in repeatedly, to one account after another, and its item's key. */
function makeIdentity() {
  const issuer = 'https://id.example';
  const subject = randomUUID();
  const hash = createHash('sha256').update(JSON.stringify([issuer, subject]));
  return { identity: { issuer, subject }, key: identityKey(hash.digest('hex')) };
}

/** Tests which entities the next account may review again. */
async function allowedOf(user: Person, entities: readonly string[]): Promise<boolean[]> {
  const answers = [];
  for (const entity_id of entities)
    answers.push(await user.triesToPublish(reviewBody({ entity_id })));
  for (const { status, body } of answers) {
    if (status !== 200) expect([status, body.description]).toEqual([403, message]);
  }
  return answers.map(({ status }) => status === 200);
}

test.each(['at once', 'when the account is erased'])(
  'a hidden review cannot be published by the next account, signed in %s',
  async (when) => {
    const { identity, key } = makeIdentity();
    const first = await signIn(identity);
    const deleted = (await hiddenAndDeleted(first)).entity_id;
    const hidden = randomUUID();
    const draft = randomUUID();
    const restored = randomUUID();
    const allowed = randomUUID();
    const open = randomUUID();
    const never = randomUUID();
    const review_id = await first.publishesHidden({ entity_id: hidden });
    await first.publishesHidden({ entity_id: draft, is_draft: true });
    await setHidden(await first.publishesHidden({ entity_id: restored }), false);
    await first.deletes(await first.publishes({ entity_id: allowed }));
    await first.publishes({ entity_id: open });
    let last = first;
    // The marks survive each account of the person.
    for (const _ of [1, 2]) {
      await last.leaves();
      if (when !== 'at once') {
        await applyStream();
        const left = (await scanTable()).filter(({ pk }) => pk === userKey(last.id).pk);
        expect(left).toMatchObject([{ sk: 'PROJECTION' }]);
      }
      last = await signIn(identity);
      expect(await allowedOf(last, [deleted, hidden, draft])).toEqual([false, false, false]);
      expect(await readItem(key)).toEqual({ ...key, user_id: last.id, issuer: identity.issuer });
    }
    expect(await allowedOf(last, [restored, allowed, open, never])).toEqual(Array(4).fill(true));
    // The export lists the mark, and a moderator can allow the review as before.
    const { body } = await last.exports();
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
  const restored = await ann.publishesHidden({ entity_id });
  await setHidden(restored, false);
  await ann.deletes(restored);
  const id = (await ann.triesToPublish(reviewBody({ entity_id }))).body.id;
  // The state after a deletion that votes kept from finishing.
  await setAttributes(reviewKey(id), { is_hidden: true, deleted_at: new Date().toISOString() });
  await finishDeletion(id);
  expect(await ann.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(200);
});

test('a deletion racing with a decision marks hidden reviews only', async () => {
  const ann = await makeUser();
  for (let i = 0; i < 15; i++) {
    const entity_id = randomUUID();
    const id = await ann.publishes({ entity_id });
    const [isHidden] = await Promise.all([hide(id), ann.deletes(id)]);
    expect(await ann.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(isHidden ? 403 : 200);
  }
});

test('a moderator or the operator allows a new review once, which is logged', async () => {
  const ann = await makeUser();
  const mia = await makeModerator('Mia');
  const { entity_id, review_id } = await hiddenAndDeleted(ann);
  const by = { ...operator, moderator_id: mia.id };
  for (const [user_id, entity] of [
    [ann.id, randomUUID()],
    [mia.id, entity_id],
    [randomUUID(), entity_id],
  ] as const) {
    await expect(allowReview(user_id, entity, by)).rejects.toHaveStatus(400);
  }
  const other = { ...operator, moderator_id: ann.id };
  await expect(allowReview(ann.id, entity_id, other)).rejects.toHaveStatus(400);
  const stranger = { ...operator, moderator_id: (await makeUser()).id };
  await expect(allowReview(ann.id, entity_id, stranger)).rejects.toHaveStatus(404);
  expect(await ann.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(403);

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
  const allowed = await ann.triesToPublish(reviewBody({ entity_id }));
  expect(allowed).toHaveStatus(200);
  // The claim of an existing review is no mark.
  await expect(allowReview(ann.id, entity_id, by)).rejects.toHaveStatus(400);
  await ann.deletes(allowed.body.id);
  expect(await ann.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(200);
});

test('a moderator cannot allow a new review to themselves', async () => {
  const mia = await makeModerator('Mia');
  const { entity_id } = await hiddenAndDeleted(mia);
  const by = { ...operator, moderator_id: mia.id };
  const message = 'This review was your own: another moderator decides on it';
  const refused = { status: 400, message };
  await expect(allowReview(mia.id, entity_id, by)).rejects.toMatchObject(refused);
  await allowReview(mia.id, entity_id, operator);
  expect(await mia.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(200);
});

test('an identity without hidden reviews is deleted', async () => {
  const { identity, key } = makeIdentity();
  const user = await signIn(identity);
  await user.publishes();
  await user.leaves();
  expect(await readItem(key)).toBeUndefined();
});

test('an account deletion racing with a decision marks hidden reviews only', async () => {
  const { identity } = makeIdentity();
  for (let i = 0; i < 15; i++) {
    const user = await signIn(identity);
    const entity_id = randomUUID();
    const id = await user.publishes({ entity_id });
    const [isHidden] = await Promise.all([hide(id), user.leaves()]);
    expect(await allowedOf(await signIn(identity), [entity_id])).toEqual([!isHidden]);
  }
});

test.each(['sign-in', 'eraser'])(
  'the next %s finishes a deletion that stopped half-way',
  async (by) => {
    const { identity, key } = makeIdentity();
    const user = await signIn(identity);
    const { entity_id } = await hiddenAndDeleted(user);
    await decideUser(user.id, 'block', operator);
    silence('warn');
    let isDeleted = false;
    const spy = beforeSend((command) => {
      if (isDeleted) throw new Error('down');
      isDeleted = command instanceof TransactWriteCommand;
    });
    await user.leaves();
    spy.mockRestore();
    expect(await readItem(key)).toMatchObject({ user_id: user.id });
    if (by === 'eraser') {
      await applyStream();
      expect(await readItem(key)).toMatchObject({ hidden: [{ entity_id }] });
      expect(await readItem(key)).not.toHaveProperty('user_id');
    }
    const next = await signIn(identity);
    expect(next.id).not.toBe(user.id);
    await decideUser(next.id, 'unblock', operator);
    expect(await allowedOf(next, [entity_id])).toEqual([false]);
  },
);

test('many marks, beyond one transaction, are written before the next sign-in', async () => {
  const { identity, key } = makeIdentity();
  const user = await signIn(identity);
  const entities = Array.from({ length: 195 }, () => randomUUID());
  const entity_type = 'release_group';
  const marks = entities.map((entity_id) => markOf({ id: entity_id, entity_id, entity_type }));
  await batchWrite(marks.map((mark) => ({ put: hiddenClaimItem(user.id, mark) })));
  const [, ...during] = await Promise.all([user.leaves(), signIn(identity), signIn(identity)]);
  const after = await Promise.all(Array.from({ length: 6 }, () => signIn(identity)));
  expect(new Set(after.map(({ id }) => id)).size).toBe(1);
  for (const { id } of [...during, ...after]) expect([user.id, after[0]?.id]).toContain(id);
  const ids = await collect(queryItems(claimKey(after[0]?.id ?? '', '')));
  expect(ids.map(({ entity_id }) => entity_id)).toEqual(entities.toSorted());
  expect(await readItem(key)).toEqual({ ...key, user_id: after[0]?.id, issuer: identity.issuer });
});

test('an identity with very many hidden reviews keeps the last deleted ones', async () => {
  const { identity, key } = makeIdentity();
  const user = await signIn(identity);
  const marks = Array.from({ length: 203 }, (_, i) => ({
    ...markOf({ id: randomUUID(), entity_id: randomUUID(), entity_type: 'release_group' }),
    marked_at: new Date(i).toISOString(),
  }));
  await batchWrite(marks.toReversed().map((mark) => ({ put: hiddenClaimItem(user.id, mark) })));
  await user.leaves();
  expect(await readItem(key)).toEqual({ ...key, hidden: marks.slice(3) });
});
