import {
  caseKey,
  dailyVotesKey,
  reviewKey,
  userKey,
  waitingKey,
} from '../../../../shared/core/keys.ts';
import { listDecisions } from '../../../../shared/core/report/decision-log.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { findLeftovers } from '../../../../shared/features/account/erase-leftovers.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { listWaiting } from '../../../../shared/features/moderation/desk-list.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem, scanTable } from '../../../helpers/items.ts';
import { follow, position } from '../../../helpers/list-changes.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, importWhole } from '../../../helpers/transfer.ts';
import {
  by,
  makeModerator,
  makeUser,
  makeUsers,
  type Person,
  text,
  visitor,
} from '../../../helpers/world.ts';

// The edits of a newcomer. Two reviews have to be approved.

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const advert = 'Cheap watches for everybody, call 0800 555 now.';
beforeEach(() => {
  process.env.HELD_REVIEWS = '2';
});

/** A newcomer with one approved review. */
async function newcomer(content: Record<string, unknown> = {}) {
  const author = await makeUser();
  const id = await author.publishes(content);
  await mia.decides(id, 'approve');
  return { author, id };
}

const isWaiting = async (id: string) => (await readItem(waitingKey(id))) !== undefined;

const editsOf = async ({ id }: Person) =>
  (await readItem(dailyVotesKey(id, new Date().toISOString().slice(0, 10))))?.edits;

test('a new text waits, and everybody reads the approved one until a moderator approves', async () => {
  const { author, id } = await newcomer();
  const { etag } = (await visitor.reads(id)).headers;
  const before = await visitor.sees(id);
  const headers = { 'If-Match': `${etag}`, 'Content-Type': 'application/json' };
  const answer = await author.edits(id, { text: advert }, headers);
  expect(answer).toMatchObject({ status: 200, body: { review: { id } } });
  expect(await visitor.sees(id)).toEqual(before);
  expect((await visitor.listsRevisions(id)).body.revisions).toHaveLength(1);
  expect(await visitor.readsRevision(id, '2')).toHaveStatus(404);
  expect(await author.readsOwn(id)).toMatchObject({
    text,
    edits: 0,
    is_hidden: false,
    moderation: { decision: 'approve' },
    waiting_text: advert,
  });
  expect(await editsOf(author)).toBe(1);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', is_held: true });
  const { waiting } = await listWaiting({ order: 'date', kind: 'held' }, 100);
  expect(waiting).toContainEqual(
    expect.objectContaining({ moderationCase: expect.objectContaining({ review_id: id }) }),
  );
  const voter = await makeUser();
  await voter.votes(id);
  // A minute later, which is no new date of publication.
  stopClock(Date.now() + 60_000);
  await mia.decides(id, 'approve');
  const after = await visitor.sees(id);
  expect(after).toMatchObject({ text: advert, edits: 1, published_on: before.published_on });
  const [second, first] = (await visitor.listsRevisions(id)).body.revisions;
  expect(second).toMatchObject({ id: 2, text: advert, votes_positive: 0 });
  expect(first).toMatchObject({ id: 1, text, votes_positive: 1 });
  expect(await author.readsOwn(id)).not.toHaveProperty('waiting_text');
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  expect(await isWaiting(id)).toBe(false);
  expect(await readItem(userKey(author.id))).toMatchObject({ news_approve: 2 });
  await expectExact();
});

test('a refusal drops the text, and the author is told why', async () => {
  const { author, id } = await newcomer();
  const before = await visitor.sees(id);
  await author.edits(id, { text: advert });
  for (const verdict of ['restore', 'uphold', 'dismiss'] as const) {
    await expect(mia.decides(id, verdict)).rejects.toHaveStatus(400);
  }
  await mia.decides(id, 'refuse');
  expect(await visitor.sees(id)).toEqual(before);
  const own = await author.readsOwn(id);
  const { moderator_id: _, ...why } = by(mia);
  expect(own).toMatchObject({ is_hidden: false, moderation: { decision: 'refuse', ...why } });
  expect(own).not.toHaveProperty('waiting_text');
  expect(await isWaiting(id)).toBe(false);
  expect(await readItem(userKey(author.id))).toMatchObject({ news_refuse: 1 });
  const { decisions } = await listDecisions(20, { userId: author.id });
  expect(decisions[0]).toMatchObject({ decision: 'refuse', review_id: id, moderator_id: mia.id });
  await expect(mia.decides(id, 'refuse')).rejects.toHaveStatus(400);
  // The next one waits as well.
  await author.edits(id, { text: `${advert} Again.` });
  expect(await isWaiting(id)).toBe(true);
  await expectExact();
});

test('a rating never waits, nor does the removal of a text', async () => {
  const { author, id } = await newcomer();
  await author.edits(id, { text: advert, rating: 1 });
  expect(await visitor.sees(id)).toMatchObject({ text, rating: 1, edits: 1 });
  await author.edits(id, { rating: 2 });
  expect(await visitor.sees(id)).toMatchObject({ text, rating: 2, edits: 2 });
  expect(await author.readsOwn(id)).toMatchObject({ waiting_text: advert });
  await mia.decides(id, 'approve');
  expect(await visitor.sees(id)).toMatchObject({ text: advert, rating: 2, edits: 3 });
  await author.edits(id, { text });
  await author.edits(id, { text: null });
  expect(await visitor.sees(id)).toMatchObject({ text: null, rating: 2 });
  expect(await isWaiting(id)).toBe(false);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  // A text for a review without one waits, and only what is public has to remain.
  await author.edits(id, { text });
  expect(await author.edits(id, { rating: null })).toHaveStatus(400);
  await mia.decides(id, 'approve');
  expect(await visitor.sees(id)).toMatchObject({ text, rating: 2 });
  await expectExact();
});

test('the last text waits alone, and the public text takes it back', async () => {
  const { author, id } = await newcomer();
  await author.edits(id, { text: advert });
  const seen = await readItem(caseKey(id));
  await author.edits(id, { text: `${advert} Now.` });
  expect(await author.readsOwn(id)).toMatchObject({ waiting_text: `${advert} Now.` });
  // A moderator who saw the first text decides on nothing else.
  expect((await readItem(caseKey(id)))?.version).toBe(Number(seen?.version) + 1);
  expect(await editsOf(author)).toBe(2);
  // The same form sent twice.
  await author.edits(id, { text: `${advert} Now.` });
  expect(await editsOf(author)).toBe(2);
  await author.edits(id, { text });
  expect(await isWaiting(id)).toBe(false);
  expect(await author.readsOwn(id)).not.toHaveProperty('waiting_text');
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  await expect(mia.decides(id, 'approve')).rejects.toHaveStatus(400);
  await expectExact();
});

test('only newcomers wait, and only for what others can read', async () => {
  const { author, id } = await newcomer();
  // A held review and a draft change at once.
  const held = await author.publishes();
  await author.edits(held, { text: advert });
  expect(await author.readsOwn(held)).toMatchObject({ text: advert, edits: 1 });
  const draft = await author.publishes({ is_draft: true });
  await author.edits(draft, { text: advert });
  expect(await author.readsOwn(draft)).toMatchObject({ text: advert });
  // The text that waits from before gives way to one that need not wait.
  await author.edits(id, { text: advert });
  await mia.decides(held, 'approve');
  await author.edits(id, { text: `${text} Better.` });
  expect(await visitor.sees(id)).toMatchObject({ text: `${text} Better.`, edits: 1 });
  expect(await isWaiting(id)).toBe(false);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  const own = await mia.publishes();
  await mia.edits(own, { text: advert });
  expect(await visitor.sees(own)).toMatchObject({ text: advert });
  await expectExact();
});

test('reports stay open beside an edit, and a decision answers both', async () => {
  const { author, id } = await newcomer();
  const [reader, leaving] = await makeUsers(2);
  await reader.reports(id, { reason: 'abuse' });
  await author.edits(id, { text: advert });
  await leaving.reports(id, { reason: 'spam' });
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', is_held: true, reports: 2 });
  await author.edits(id, { text });
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 2 });
  await author.edits(id, { text: advert });
  // Without its reports the case still has the edit.
  await reader.leaves();
  await leaving.leaves();
  await applyStream();
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', is_held: true, reports: 0 });
  await mia.decides(id, 'hide');
  expect(await visitor.reads(id)).toHaveStatus(404);
  expect(await isWaiting(id)).toBe(false);
  await ben.decides(id, 'restore');
  expect(await visitor.sees(id)).toMatchObject({ text });
  await expectExact();
});

test('the operator and a block decide on it as moderators do', async () => {
  const { author, id } = await newcomer();
  await author.edits(id, { text: advert });
  await setHidden(id, false);
  expect(await visitor.sees(id)).toMatchObject({ text: advert });
  await author.edits(id, { text });
  await decideUser(author.id, 'hide_all', by(mia));
  await applyStream();
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: true, text: advert });
  expect(await author.readsOwn(id)).not.toHaveProperty('waiting_text');
  await expectExact();
});

test.each([
  ['waits again', false],
  ['is dropped if the review has been edited since', true],
])('what waited %s when all that the author did is brought back', async (_, isEdited) => {
  const { author, id } = await newcomer({ rating: 3 });
  await author.edits(id, { text: advert });
  const decide = async (verdict: 'hide_all' | 'unblock' | 'restore_all', moderator: Person) => {
    await decideUser(author.id, verdict, by(moderator));
    await applyStream();
  };
  await decide('hide_all', mia);
  const { waiting } = await listWaiting({ order: 'date', kind: 'held' }, 100);
  expect(JSON.stringify(waiting)).not.toContain(id);
  const [taken] = (await author.exports()).body.reviews;
  expect(taken).toMatchObject({ is_hidden: true, waiting_text: advert });
  if (isEdited) {
    await decide('unblock', mia);
    expect((await author.edits(id, { rating: 5 })).status).toBe(200);
  }
  await decide('restore_all', ben);
  expect(await visitor.sees(id)).toMatchObject({ text });
  const own = await author.readsOwn(id);
  expect(own.waiting_text).toBe(isEdited ? undefined : advert);
  expect(await readItem(caseKey(id))).toMatchObject({ state: isEdited ? 'closed' : 'open' });
  expect(await isWaiting(id)).toBe(!isEdited);
  await expectExact();
});

test('edits, decisions, votes and deletions at once leave one of them, and every count exact', async () => {
  for (let round = 0; round < 6; round++) {
    const { author, id } = await newcomer({ rating: 3 });
    await author.edits(id, { text: advert });
    const voter = await makeUser();
    const verdict = round % 2 === 0 ? 'approve' : 'refuse';
    await Promise.allSettled([
      mia.decides(id, verdict),
      author.edits(id, { text: `${advert} Now.` }),
      author.edits(id, { rating: 1 }),
      voter.votes(id),
      ...(round === 5 ? [author.deletes(id)] : []),
    ]);
    await expectExact();
    const review = await readItem(reviewKey(id));
    const stored = await readItem(caseKey(id));
    expect(await isWaiting(id)).toBe(review?.waiting_since !== undefined);
    expect(stored?.is_held === true).toBe(review?.waiting_since !== undefined);
  }
});

test('mirrors never have it, and exports, imports and own data do', async () => {
  await enterEmptyTable();
  const eve = await makeModerator('Eve');
  const author = await makeUser();
  const id = await author.publishes();
  await eve.decides(id, 'approve');
  const since = await position();
  await author.edits(id, { text: advert });
  await applyStream();
  expect(JSON.stringify(await follow(since))).not.toContain(advert);
  const [taken] = (await author.exports()).body.reviews;
  expect(taken).toMatchObject({ waiting_text: advert });
  const records = await exported();
  const before = await readItem(caseKey(id));
  await enterEmptyTable();
  await importWhole(records);
  expect(await readItem(caseKey(id))).toEqual(before);
  expect(await visitor.sees(id)).toMatchObject({ text });
  expect(await author.readsOwn(id)).toMatchObject({ waiting_text: advert });
  await eve.decides(id, 'approve');
  expect(await visitor.sees(id)).toMatchObject({ text: advert });
});

test('nothing of it is left of a deleted review or account', async () => {
  const gone = `${advert} Gone.`;
  const { author, id } = await newcomer();
  await author.edits(id, { text: gone });
  await author.deletes(id);
  const other = await newcomer();
  await other.author.edits(other.id, { text: gone });
  await other.author.leaves();
  expect((await findLeftovers()).reviews).toContain(id);
  await applyStream();
  const texts = (await scanTable()).map((item) => item.text);
  expect(texts).toContain(advert);
  expect(texts).not.toContain(gone);
  expect((await findLeftovers()).reviews).toEqual([]);
  await expectExact();
});
