import { eraseLeftovers, findLeftovers } from '../../../shared/account/erase-leftovers.ts';
import { listDecisions } from '../../../shared/moderation/decision-log.ts';
import {
  decideReview,
  decideUser,
  setHidden,
} from '../../../shared/moderation/decision-repository.ts';
import { hideAll } from '../../../shared/moderation/hide-all.ts';
import { insertReport } from '../../../shared/moderation/report-repository.ts';
import type { Item } from '../../../shared/table/item.ts';
import { caseKey, dailyVotesKey, reviewKey, userKey } from '../../../shared/table/keys.ts';
import { importRecords } from '../../../shared/transfer/import.ts';
import { readItem, scanTable, setAttributes } from '../../helpers/items.ts';
import { expectExact } from '../../helpers/recount.ts';
import { beforeSend } from '../../helpers/sends.ts';
import { applyStream } from '../../helpers/stream.ts';
import { exported, sourced } from '../../helpers/transfer.ts';
import { makeModerator, makeUser, makeUsers, type Person, signIn } from '../../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const why = { reason: 'spam', note: 'A shop.' } as const;
const byMia = { ...why, moderator_id: mia.id };
const byBen = { ...why, moderator_id: ben.id };

async function written(count: number) {
  const author = await makeUser();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await author.publishes());
  return { author, ids };
}

const logOf = async ({ id: userId }: Person) => (await listDecisions(1000, { userId })).decisions;

const isHidden = async (id: string): Promise<boolean> =>
  (await readItem(reviewKey(id)))?.is_hidden === true;

const hiddenOf = async (ids: readonly string[]) => Promise.all(ids.map(isHidden));

test('one decision blocks the account, and the background hides each public review', async () => {
  const { author, ids } = await written(30);
  const [first = ''] = ids;
  const draft = await author.publishes({ is_draft: true });
  await insertReport({ id: first, user_id: author.id }, { user_id: ben.id, reason: 'spam' });
  const decision = await decideUser(author.id, 'hide_all', byMia);
  expect(await readItem(userKey(author.id))).toMatchObject({
    blocked_at: decision.decided_at,
    hiding: decision.id,
  });
  expect(await isHidden(first)).toBe(false);
  // The same form sent twice, and another moderator.
  expect(await decideUser(author.id, 'hide_all', byMia)).toEqual(decision);
  await expect(decideUser(author.id, 'hide_all', byBen)).rejects.toMatchObject({
    status: 400,
    message: 'Its reviews are being hidden already',
  });
  await applyStream();
  expect(await hiddenOf(ids)).toEqual(Array(30).fill(true));
  expect(await isHidden(draft)).toBe(false);
  const user = await readItem(userKey(author.id));
  expect(user).toHaveProperty('blocked_at');
  expect(user).not.toHaveProperty('hiding');
  const log = await logOf(author);
  expect(log).toHaveLength(31);
  expect(log.at(-1)).toMatchObject({ ...byMia, decision: 'hide_all', review_id: null });
  for (const { review_id, ...each } of log.slice(0, -1)) {
    const reports = review_id === first ? 1 : 0;
    expect(each).toMatchObject({ ...byMia, decision: 'hide', reports, user_id: author.id });
  }
  await expectExact();
});

test.each([
  ['too', []],
  ['after a block too', ['block']],
] as const)(
  'reviews that wait for a moderator are hidden %s, and wait no more',
  async (_, before) => {
    process.env.HELD_REVIEWS = '5';
    const { author, ids } = await written(3);
    delete process.env.HELD_REVIEWS;
    for (const verdict of before) await decideUser(author.id, verdict, byBen);
    const decision = await decideUser(author.id, 'hide_all', byMia);
    await applyStream();
    for (const id of ids) {
      expect(await readItem(reviewKey(id))).toMatchObject({
        is_hidden: true,
        moderation: { decision: 'hide' },
      });
      expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
    }
    expect((await logOf(author)).map(({ decision }) => decision)).toEqual([
      ...Array(3).fill('hide'),
      'hide_all',
      ...before,
    ]);
    // The same form sent twice, and another moderator.
    expect(await decideUser(author.id, 'hide_all', byMia)).toEqual(decision);
    await expect(decideUser(author.id, 'hide_all', byBen)).rejects.toMatchObject({ status: 400 });
    await expectExact();
  },
);

test('votes are withdrawn for good, and the decision counts them', async () => {
  const { author, ids } = await written(2);
  const voter = await makeUser();
  const other = await makeUser();
  await voter.votes(`${ids[0]}`, 'down');
  await author.edits(`${ids[0]}`, { rating: 1 });
  await voter.votes(`${ids[1]}`, 'down');
  await other.votes(`${ids[1]}`, 'up');
  // A vote on a review that is not public counts as well.
  await setHidden(`${ids[0]}`, true);
  const decision = await decideUser(voter.id, 'hide_all', byMia);
  await applyStream();
  const stored = await readItem(reviewKey(`${ids[1]}`));
  expect(stored).toMatchObject({ votes_positive: 1, votes_negative: 0, popularity: 1 });
  expect(await readItem(userKey(author.id))).toMatchObject({ karma: 1 });
  const today = new Date().toISOString().slice(0, 10);
  expect(await readItem(dailyVotesKey(voter.id, today))).toMatchObject({ count: 2, cast: 0 });
  const logged = { id: decision.id, decision: 'hide_all', votes: 2 };
  expect(await logOf(voter)).toMatchObject([logged]);
  await decideUser(voter.id, 'unblock', byMia);
  await applyStream();
  expect((await voter.readsVote(`${ids[1]}`)).status).toBe(404);
  // What the day's votes have spent does not come back either.
  const { headers } = await voter.triesToVote(`${ids[1]}`, { vote: true });
  expect(headers.ratelimit).toContain('r=7;');
  await expectExact();
});

test('votes are withdrawn beside votes, edits and deletions, and every number stays exact', async () => {
  for (let round = 0; round < 4; round++) {
    const { author, ids } = await written(6);
    const voter = await makeUser();
    const others = await makeUsers(3);
    for (const id of ids) await voter.votes(id, 'down');
    const leaving = await makeUser();
    const going = await leaving.publishes();
    await voter.votes(going, 'up');
    const ignore = () => undefined;
    await Promise.all([
      decideUser(voter.id, 'hide_all', byMia).then(() => hideAll(voter.id).catch(ignore)),
      ...ids.slice(0, 3).map((id) => voter.triesToVote(id, { vote: true })),
      voter.withdrawsVote(`${ids[3]}`),
      ...others.map((other) => other.votes(`${ids[4]}`, 'up')),
      author.edits(`${ids[4]}`, { rating: 2 }),
      author.deletes(`${ids[5]}`),
      leaving.leaves(),
      ...(round === 2 ? [voter.leaves()] : []),
    ]);
    if (round === 3) await decideUser(voter.id, 'unblock', byBen).catch(ignore);
    await expectExact();
    if (round === 3) continue;
    const items = await scanTable();
    expect(items.filter(({ sk }) => sk === `VOTE#${voter.id}`)).toEqual([]);
  }
});

test('unblocking ends the withdrawal: the votes that are left stay', async () => {
  const { author, ids } = await written(5);
  const voter = await makeUser();
  for (const id of ids) await voter.votes(id);
  await decideUser(voter.id, 'hide_all', byMia);
  let withdrawn = 0;
  const spy = beforeSend(async ({ input }) => {
    const isWithdrawal = input.TransactItems?.some(({ Delete }) =>
      `${Delete?.Key?.sk}`.startsWith('VOTE#'),
    );
    if (isWithdrawal && ++withdrawn === 3) await decideUser(voter.id, 'unblock', byBen);
  });
  await applyStream();
  spy.mockRestore();
  expect(await readItem(userKey(author.id))).toMatchObject({ karma: 3 });
  expect((await logOf(voter)).at(-1)).toMatchObject({ decision: 'hide_all', votes: 2 });
  await expectExact();
});

test('publications that race with the decision are hidden or refused', async () => {
  for (let round = 0; round < 3; round++) {
    const { author, ids } = await written(3);
    const draft = await author.publishes({ is_draft: true });
    const [, ...published] = await Promise.all([
      decideUser(author.id, 'hide_all', byMia),
      ...Array.from({ length: 6 }, () => author.publishes().catch(() => undefined)),
      author.edits(draft, { is_draft: false }).then(({ status }) => (status === 200 ? draft : '')),
    ]);
    await applyStream();
    const all = [...ids, ...published.flatMap((id) => (id ? [id] : []))];
    expect(await hiddenOf(all)).toEqual(all.map(() => true));
    await expectExact();
  }
});

test('it ends after crashes, beside votes, and although the moderator has left', async () => {
  const { author, ids } = await written(12);
  const former = await makeModerator('Ida');
  await decideUser(author.id, 'hide_all', { ...why, moderator_id: former.id });
  await setAttributes(userKey(former.id), { is_moderator: false });
  jest.spyOn(console, 'error').mockImplementation(() => {});
  let sends = 0;
  const spy = beforeSend(() => {
    if (++sends % 9 === 0) throw new Error('down');
  });
  const voters = await makeUsers(5);
  const votes = voters.map((voter) => voter.votes(`${ids[11]}`).catch(() => {}));
  let crashes = 0;
  for (let isDone = false; !isDone; ) {
    isDone = await hideAll(author.id).then(
      () => true,
      () => {
        crashes++;
        return false;
      },
    );
  }
  await Promise.all(votes);
  spy.mockRestore();
  expect(crashes).toBeGreaterThan(1);
  expect(await hiddenOf(ids)).toEqual(ids.map(() => true));
  expect((await logOf(author)).filter(({ decision }) => decision === 'hide')).toHaveLength(12);
  expect(await readItem(userKey(author.id))).not.toHaveProperty('hiding');
  await expectExact();
});

test('what others decided since, or the moderator may not decide on, stays public', async () => {
  const { author, ids } = await written(4);
  const [reported, dismissed, restored, plain] = ids as [string, string, string, string];
  await insertReport({ id: reported, user_id: author.id }, { user_id: mia.id, reason: 'spam' });
  const { id: user_id } = await makeUser();
  await insertReport({ id: dismissed, user_id: author.id }, { user_id, reason: 'x' });
  await decideUser(author.id, 'hide_all', byMia);
  await decideReview(dismissed, 'dismiss', byBen);
  await setHidden(restored, true);
  await setHidden(restored, false);
  await hideAll(author.id);
  expect(await hiddenOf(ids)).toEqual([false, false, false, true]);
  expect(await readItem(userKey(author.id))).not.toHaveProperty('hiding');
  // A late record, after somebody has restored a review.
  await setHidden(plain, false);
  await hideAll(author.id);
  expect(await isHidden(plain)).toBe(false);
});

test('unblocking ends it, and a moderator is hidden by the operator alone', async () => {
  const { author, ids } = await written(3);
  await decideUser(author.id, 'hide_all', byMia);
  let unblocked: Promise<unknown> | undefined;
  // The account is unblocked when the first review is about to be hidden.
  const spy = beforeSend(async ({ input }) => {
    if (!unblocked && input.TransactItems?.some(({ Put }) => Put?.Item?.decision === 'hide')) {
      unblocked = decideUser(author.id, 'unblock', byBen);
      await unblocked;
    }
  });
  await applyStream();
  spy.mockRestore();
  expect(await hiddenOf(ids)).toEqual([false, false, false]);
  const user = await readItem(userKey(author.id));
  expect(user).not.toHaveProperty('hiding');
  expect(user).not.toHaveProperty('blocked_at');

  const own = await ben.publishes();
  await expect(decideUser(ben.id, 'hide_all', byMia)).rejects.toMatchObject({ status: 400 });
  const stranger = { ...why, moderator_id: (await makeUser()).id };
  await expect(decideUser(author.id, 'hide_all', stranger)).rejects.toMatchObject({ status: 404 });
  await applyStream();
  expect(await isHidden(own)).toBe(false);
  await expectExact();
});

test('a blocked account can have its reviews hidden, once', async () => {
  const { author, ids } = await written(2);
  const { decided_at } = await decideUser(author.id, 'block', byMia);
  await decideUser(author.id, 'hide_all', byBen);
  await applyStream();
  expect(await hiddenOf(ids)).toEqual([true, true]);
  expect(await readItem(userKey(author.id))).toMatchObject({ blocked_at: decided_at });
  await expect(decideUser(author.id, 'hide_all', byMia)).rejects.toMatchObject({ status: 400 });
});

test('an account deleted meanwhile leaves its public reviews as hidden ones', async () => {
  const first = await signIn({ subject: 'zoe' });
  const entity_id = '6b1d2f0e-3b52-4c43-9a2a-3d8a55a1c0de';
  await first.publishes({ entity_id });
  await decideUser(first.id, 'hide_all', byMia);
  await first.leaves();
  await applyStream();
  const next = await signIn({ subject: 'zoe' });
  await decideUser(next.id, 'unblock', byMia);
  await expect(next.publishes({ entity_id })).rejects.toThrow('A moderator has hidden');
  await expectExact();
});

test('an export in the middle is carried out where it is imported', async () => {
  const { author, ids } = await written(3);
  await decideUser(author.id, 'hide_all', byMia);
  const records = await exported();
  expect(records).toContainEqual(expect.objectContaining({ kind: 'user', id: author.id }));
  // Somebody else's table: the decision is missing, until it is imported.
  const { hiding } = (await readItem(userKey(author.id))) as Item;
  const decisions = records.filter(
    (record) => record.kind === 'decision' && record.item.id === hiding,
  );
  expect(decisions).toHaveLength(1);
  expect((await findLeftovers()).hiding).toEqual([author.id]);
  await importRecords(sourced(decisions));
  expect(await hiddenOf(ids)).toEqual([true, true, true]);
  expect((await findLeftovers()).hiding).toEqual([]);
});

test('the operator can finish it', async () => {
  const { author, ids } = await written(2);
  await decideUser(author.id, 'hide_all', byMia);
  expect(await eraseLeftovers(await findLeftovers())).toMatchObject({ hiding: 1 });
  expect(await hiddenOf(ids)).toEqual([true, true]);
});
