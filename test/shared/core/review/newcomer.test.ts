import { randomUUID } from 'node:crypto';
import { metered } from '../../../../shared/base/table/budget.ts';
import { caseKey, claimKey, countsKey, reviewKey } from '../../../../shared/core/keys.ts';
import { listDecisions } from '../../../../shared/core/report/decision-log.ts';
import { appeal, setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { insertReview } from '../../../../shared/core/review/review-repository.ts';
import { listWaiting } from '../../../../shared/features/moderation/desk-list.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem } from '../../../helpers/items.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, importWhole } from '../../../helpers/transfer.ts';
import { makeModerator, makeUser, reviewBody, reviewBy, visitor } from '../../../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');

beforeEach(() => {
  process.env.HELD_REVIEWS = '2';
});

const statusOf = async (id: string) => (await visitor.reads(id)).status;

test('the first reviews of an account are nowhere public and count nowhere', async () => {
  const author = await makeUser();
  const entity_id = randomUUID();
  const id = await author.publishes({ entity_id });
  expect(await statusOf(id)).toBe(404);
  expect((await visitor.lists({ entity_id })).body).toMatchObject({
    count: 0,
    reviews: [],
    average_rating: { rating: null, count: 0 },
  });
  expect((await visitor.lists({ user_id: author.id })).body.count).toBe(0);
  expect(await (await makeUser()).triesToVote(id, { vote: true })).toHaveStatus(404);
  expect(await (await makeUser()).reports(id, {})).toHaveStatus(404);
  expect(await author.readsOwn(id)).toMatchObject({
    is_draft: false,
    is_hidden: true,
    moderation: { decision: 'hold', reason: 'other', note: '' },
  });
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', is_held: true, reports: 0 });
  // The service has held it, and nobody has decided.
  expect((await listDecisions(20, { userId: author.id })).decisions).toEqual([]);
  await expectExact();
});

test('an account waits until so many of its reviews are public', async () => {
  const author = await makeUser();
  const statusOfNext = async () => statusOf(await author.publishes());
  const first = await author.publishes();
  const second = await author.publishes();
  const third = await author.publishes();
  expect(await Promise.all([first, second, third].map(statusOf))).toEqual([404, 404, 404]);
  await mia.decides(first, 'approve');
  expect(await statusOfNext()).toBe(404);
  await mia.decides(second, 'approve');
  expect(await statusOfNext()).toBe(200);
  // One is hidden: the account is back at one.
  await mia.decides(first, 'hide');
  await mia.decides(second, 'hide');
  expect(await statusOfNext()).toBe(404);
  await expectExact();
});

test('nobody waits without the option, and moderators never do', async () => {
  expect(await statusOf(await mia.publishes())).toBe(200);
  delete process.env.HELD_REVIEWS;
  const author = await makeUser();
  expect(await statusOf(await author.publishes())).toBe(200);
  process.env.HELD_REVIEWS = '0';
  expect(await statusOf(await author.publishes())).toBe(200);
});

test('an approved review is published at that moment, by a decision that its author reads', async () => {
  stopClock(Date.parse('2026-11-20T12:00:00.000Z'));
  const author = await makeUser();
  const id = await author.publishes();
  stopClock(Date.parse('2026-11-22T12:00:00.000Z'));
  await mia.decides(id, 'approve', { reason: 'other', note: '' });
  const { body } = await visitor.reads(id);
  expect(body.review).toMatchObject({
    created: 'Fri, 20 Nov 2026 12:00:00 GMT',
    published_on: 'Sun, 22 Nov 2026 12:00:00 GMT',
  });
  expect(await author.readsOwn(id)).toMatchObject({
    is_hidden: false,
    moderation: { decision: 'approve' },
  });
  const { decisions } = await listDecisions(20, { userId: author.id });
  expect(decisions).toMatchObject([{ decision: 'approve', review_id: id, moderator_id: mia.id }]);
  const closed = await readItem(caseKey(id));
  expect(closed).toMatchObject({ state: 'closed', round: 1 });
  expect(closed).not.toHaveProperty('is_held');
  await expectExact();
});

test('a refused review is hidden for a reason, and its author appeals to another moderator', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  await expect(appeal(id, author.id, 'Please.')).rejects.toHaveStatus(400);
  for (const verdict of ['restore', 'uphold', 'dismiss'] as const) {
    await expect(mia.decides(id, verdict)).rejects.toHaveStatus(400);
  }
  await mia.decides(id, 'hide');
  expect(await statusOf(id)).toBe(404);
  await expect(mia.decides(id, 'approve')).rejects.toHaveStatus(400);
  await appeal(id, author.id, 'It is my own.');
  await expect(mia.decides(id, 'restore')).rejects.toHaveStatus(400);
  await ben.decides(id, 'restore');
  expect(await statusOf(id)).toBe(200);
  await expect(ben.decides(id, 'approve')).rejects.toHaveStatus(400);
  await expectExact();
});

test('the operator approves and refuses with the commands that show and hide', async () => {
  const author = await makeUser();
  const first = await author.publishes();
  const second = await author.publishes();
  await setHidden(first, false);
  await setHidden(second, true);
  expect(await author.readsOwn(first)).toMatchObject({ moderation: { decision: 'approve' } });
  expect(await author.readsOwn(second)).toMatchObject({ moderation: { decision: 'hide' } });
});

test('a draft waits when it is published, and not before', async () => {
  const author = await makeUser();
  const id = await author.publishes({ is_draft: true });
  expect(await author.readsOwn(id)).toMatchObject({ is_hidden: false, moderation: null });
  expect(await readItem(caseKey(id))).toBeUndefined();
  await author.edits(id, { is_draft: false });
  expect(await author.readsOwn(id)).toMatchObject({ is_draft: false, is_hidden: true });
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', is_held: true });
  // A change leaves it where it is.
  await author.edits(id, { rating: 1 });
  expect(await author.readsOwn(id)).toMatchObject({
    rating: 1,
    moderation: { decision: 'hold' },
  });
  await mia.decides(id, 'approve');
  expect(await visitor.sees(id)).toMatchObject({ rating: 1, edits: 1 });
  await expectExact();
});

test('its author deletes a waiting review without a trace, but no refused one', async () => {
  const author = await makeUser();
  const entity_id = randomUUID();
  const id = await author.publishes({ entity_id });
  expect(await author.deletes(id)).toHaveStatus(200);
  for (const key of [reviewKey(id), caseKey(id), claimKey(author.id, entity_id)]) {
    expect(await readItem(key)).toBeUndefined();
  }
  const next = await author.publishes({ entity_id });
  await mia.decides(next, 'hide');
  await author.deletes(next);
  expect(await author.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(403);
  await expectExact();
});

test('reports of a deleted review come back with the one that waits', async () => {
  const author = await makeUser();
  process.env.HELD_REVIEWS = '0';
  const entity_id = randomUUID();
  const reported = await author.publishes({ entity_id });
  const reader = await makeUser();
  await reader.reports(reported, { reason: 'abuse' });
  await author.deletes(reported);
  process.env.HELD_REVIEWS = '1';
  const id = await author.publishes({ entity_id });
  const carried = { is_held: true, state: 'open', reports: 1, abuse: 1 };
  expect(await readItem(caseKey(id))).toMatchObject(carried);
  // They stay when it is deleted before anybody decides.
  await author.deletes(id);
  expect(await readItem(claimKey(author.id, entity_id))).toMatchObject({ reported: { abuse: 1 } });
  const draft = await author.publishes({ entity_id, is_draft: true });
  await author.edits(draft, { is_draft: false });
  expect(await readItem(caseKey(draft))).toMatchObject(carried);
  await mia.decides(draft, 'approve');
  expect(await statusOf(draft)).toBe(200);
  await expectExact();
});

test('an approval races with an edit and a deletion, and every count stays exact', async () => {
  for (let i = 0; i < 8; i++) {
    const author = await makeUser();
    const id = await author.publishes();
    const [decided, edited] = await Promise.allSettled([
      mia.decides(id, 'approve'),
      author.edits(id, { rating: 2 }),
    ]);
    expect([decided.status, edited.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(await visitor.sees(id)).toMatchObject({ rating: 2, edits: 1 });
    const other = await author.publishes();
    const verdict = i % 2 === 0 ? 'approve' : 'hide';
    const [, deleted] = await Promise.allSettled([
      mia.decides(other, verdict),
      author.deletes(other),
    ]);
    expect(deleted).toMatchObject({ status: 'fulfilled', value: { status: 200 } });
    expect(await statusOf(other)).toBe(404);
    expect((await readItem(countsKey(author.id)))?.written).toBe(1);
  }
  await expectExact();
});

test('of two moderators who decide at once, one does', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  const answers = await Promise.allSettled([
    mia.decides(id, 'approve'),
    ben.decides(id, 'approve'),
  ]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expectExact();
});

test('the queue of new authors holds waiting reviews alone', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  const other = await author.publishes();
  await mia.decides(other, 'approve');
  const reader = await makeUser();
  await reader.reports(other, {});
  const idsOf = async (kind?: 'held') => {
    const { waiting } = await listWaiting({ order: 'date', kind }, 100);
    const ids = waiting.flatMap((each) => ('review' in each ? [each.review.id] : []));
    return ids.filter((each) => [id, other].includes(each));
  };
  expect(await idsOf('held')).toEqual([id]);
  expect((await idsOf()).toSorted()).toEqual([id, other].toSorted());
});

test('a waiting review goes through an export and an import, and is approved there', async () => {
  await enterEmptyTable();
  const moderator = await makeModerator('Eve');
  const author = await makeUser();
  const id = await author.publishes();
  const before = await readItem(caseKey(id));
  const records = await exported();
  await enterEmptyTable();
  await importWhole(records);
  expect(await readItem(caseKey(id))).toEqual(before);
  expect(await statusOf(id)).toBe(404);
  await moderator.decides(id, 'approve');
  expect(await statusOf(id)).toBe(200);
});

test('a review that waits costs at most four write units more, and two small reads', async () => {
  const usageOf = async (held: string) => {
    const author = await makeUser();
    // The first publication of a day makes the counters.
    await author.publishes();
    process.env.HELD_REVIEWS = held;
    return (await metered(() => insertReview(reviewBy(author.id)))).usage;
  };
  const usual = await usageOf('0');
  const held = await usageOf('5');
  expect(held.write - usual.write).toBeLessThanOrEqual(4);
  expect(held.read - usual.read).toBeLessThanOrEqual(1);
});
