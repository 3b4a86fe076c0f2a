import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { pick } from '../../../../shared/base/pick.ts';
import type { Item } from '../../../../shared/base/table/item.ts';
import { transact } from '../../../../shared/base/table/transact.ts';
import {
  type Entity,
  type EntityRecord,
  readRecord,
  recordWrites,
} from '../../../../shared/core/entity/record.ts';
import { writeRecords } from '../../../../shared/core/entity/write-records.ts';
import {
  caseKey,
  countsKey,
  dailyVotesKey,
  reviewKey,
  userKey,
} from '../../../../shared/core/keys.ts';
import type { Decision } from '../../../../shared/core/report/decision.ts';
import { entryOf, listDecisions, logEntry } from '../../../../shared/core/report/decision-log.ts';
import {
  appeal,
  decideReview,
  setHidden,
} from '../../../../shared/core/report/decision-repository.ts';
import { insertReport } from '../../../../shared/core/report/report-repository.ts';
import {
  eraseLeftovers,
  findLeftovers,
} from '../../../../shared/features/account/erase-leftovers.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { undoAll } from '../../../../shared/features/moderation/undo-all.ts';
import { proposalKey } from '../../../../shared/features/names/kinds.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { correct, nameNew, reviewNew } from '../../../helpers/names-by-people.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { exported, sourced } from '../../../helpers/transfer.ts';
import {
  by,
  makeModerator,
  makeUser,
  makeUsers,
  newWork,
  type Person,
  signIn,
  whileHeld,
} from '../../../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const byMia = by(mia);
const byBen = by(ben);

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
    message: 'All that it did is being taken back already',
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
] as const)('reviews that wait are hidden %s, and wait no more', async (_, before) => {
  const { author, ids } = await whileHeld(() => written(3));
  const open = await author.publishes();
  const [block] = await Promise.all(before.map((verdict) => decideUser(author.id, verdict, byBen)));
  const hiding = await decideUser(author.id, 'hide_all', byMia);
  await applyStream();
  for (const id of ids) {
    expect(await readItem(reviewKey(id))).toMatchObject({
      is_hidden: true,
      moderation: { decision: 'hide' },
    });
    expect(await readItem(caseKey(id))).toMatchObject({ state: 'closed' });
  }
  expect(await isHidden(open)).toBe(true);
  const { decided_at: blocked_at } = block ?? hiding;
  expect(await readItem(userKey(author.id))).toMatchObject({ blocked_at });
  expect((await logOf(author)).map(({ decision }) => decision)).toEqual([
    ...Array(4).fill('hide'),
    'hide_all',
    ...before,
  ]);
  await expect(decideUser(author.id, 'hide_all', byBen)).rejects.toHaveStatus(400);
  await expectExact();
});

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
  expect(await voter.readsVote(`${ids[1]}`)).toHaveStatus(404);
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
      decideUser(voter.id, 'hide_all', byMia).then(() => undoAll(voter.id).catch(ignore)),
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

test('what others decided since, or the moderator may not decide on, stays public', async () => {
  const { author, ids } = await written(4);
  const [reported, dismissed, restored, plain] = ids as [string, string, string, string];
  await insertReport({ id: reported, user_id: author.id }, { user_id: mia.id, reason: 'spam' });
  const { id: user_id } = await makeUser();
  await insertReport({ id: dismissed, user_id: author.id }, { user_id, reason: 'x' });
  await decideUser(author.id, 'hide_all', byMia);
  // Times have milliseconds, and all of this may take less than one.
  stopClock(Date.now() + 1);
  await decideReview(dismissed, 'dismiss', byBen);
  await setHidden(restored, true);
  await setHidden(restored, false);
  await undoAll(author.id);
  expect(await hiddenOf(ids)).toEqual([false, false, false, true]);
  expect(await readItem(userKey(author.id))).not.toHaveProperty('hiding');
  // A late record, after somebody has restored a review.
  await setHidden(plain, false);
  await undoAll(author.id);
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
  await expect(decideUser(ben.id, 'hide_all', byMia)).rejects.toHaveStatus(400);
  const stranger = by(await makeUser());
  await expect(decideUser(author.id, 'hide_all', stranger)).rejects.toHaveStatus(404);
  await applyStream();
  expect(await isHidden(own)).toBe(false);
  await expectExact();
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

describe('bringing everything back', () => {
  /** Something that others reviewed and named, whose name this person wants to correct. */
  async function proposes(person: Person, note: string): Promise<Entity> {
    const entity = newWork();
    const other = await makeUser();
    await other.publishes(entity);
    await correct(other, entity, { name: 'Bleu' });
    await correct(person, entity, { name: 'Cheap watches', about: 'Here', note });
    return entity;
  }

  const proposalOf = ({ entity_type, entity_id }: Entity, { id }: Person) =>
    readItem(proposalKey(entity_type, entity_id, id));

  const partsOf = async (person: Person, { id }: Decision) =>
    (await logOf(person)).filter(({ part_of, decision }) => {
      return part_of === id && decision !== 'restore_all';
    });

  test('undoes all but votes in one go, however often it is stopped', async () => {
    const { author, ids } = await written(3);
    const held = await whileHeld(() => author.publishes());
    const entity = await proposes(author, 'Look here');
    const proposal = await proposalOf(entity, author);
    const other = await makeUser();
    const voted = await other.publishes();
    await author.votes(voted);
    const counted = () => readItem(countsKey(author.id));
    const before = await counted();

    const former = await makeModerator('Ida');
    const taken = await decideUser(author.id, 'hide_all', by(former));
    // It ends although the moderator has left.
    await setAttributes(userKey(former.id), { is_moderator: false });
    await inPieces(() => undoAll(author.id));
    expect(await hiddenOf([...ids, held])).toEqual([true, true, true, true]);
    expect(await proposalOf(entity, author)).toBeUndefined();
    expect((await readItem(userKey(other.id)))?.karma).toBe(0);
    const parts = await partsOf(author, taken);
    expect(parts.map(({ decision }) => decision).toSorted()).toEqual([
      'decline',
      ...Array(4).fill('hide'),
    ]);

    const back = await decideUser(author.id, 'restore_all', byBen);
    expect(await readItem(userKey(author.id))).not.toHaveProperty('blocked_at');
    await inPieces(() => undoAll(author.id));
    expect(await hiddenOf(ids)).toEqual([false, false, false]);
    // It waits for a moderator, as it did.
    expect(await readItem(reviewKey(held))).toMatchObject({
      is_hidden: true,
      moderation: { decision: 'hold' },
    });
    expect(await readItem(caseKey(held))).toMatchObject({ state: 'open', all: 'CASE#held' });
    expect(await proposalOf(entity, author)).toEqual(proposal);
    expect((await readItem(userKey(other.id)))?.karma).toBe(0);
    const { version: _, ...counts } = (await counted()) as Item;
    expect(before).toMatchObject(counts);
    const restored = (await partsOf(author, back)).map(({ decision }) => decision);
    expect(restored.toSorted()).toEqual(['hold', 'restore', 'restore', 'restore']);
    expect(await readItem(userKey(author.id))).not.toHaveProperty('hiding');
    await applyStream();
    await expectExact();
    // Nothing is left to bring back.
    await expect(decideUser(author.id, 'restore_all', byMia)).rejects.toMatchObject({
      status: 400,
      message: 'Nothing of this account was taken back',
    });
    await decideReview(held, 'approve', byBen);
    expect(await isHidden(held)).toBe(false);
  });

  test('leaves what somebody has decided on since', async () => {
    const { author, ids } = await written(3);
    const [upheld = '', hiddenAgain = ''] = ids;
    await decideUser(author.id, 'hide_all', byMia);
    await applyStream();
    await appeal(upheld, author.id, 'It is no shop.');
    await decideReview(upheld, 'uphold', byBen);
    await decideReview(hiddenAgain, 'restore', byBen);
    await decideReview(hiddenAgain, 'hide', byBen);
    await decideUser(author.id, 'restore_all', byMia);
    await applyStream();
    expect(await hiddenOf(ids)).toEqual([true, true, false]);
    await expectExact();
  });

  test('two moderators at once, and one who changes their mind in the middle', async () => {
    const { author, ids } = await written(4);
    const tries = await Promise.allSettled([
      decideUser(author.id, 'hide_all', byMia),
      decideUser(author.id, 'hide_all', byBen),
    ]);
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    let hidden = 0;
    const spy = beforeSend(async ({ input }) => {
      const isPart = input.TransactItems?.some(({ Put }) => Put?.Item?.decision === 'hide');
      if (isPart && ++hidden === 3) await decideUser(author.id, 'restore_all', byBen);
    });
    await applyStream();
    spy.mockRestore();
    await applyStream();
    expect(await hiddenOf(ids)).toEqual(ids.map(() => false));
    const log = (await logOf(author)).map(({ decision }) => decision).toSorted();
    expect(log).toEqual(['hide', 'hide', 'hide_all', 'restore', 'restore', 'restore_all']);
    await expectExact();
  });

  test('an account that leaves while it gets everything back leaves no hidden reviews', async () => {
    const first = await signIn({ subject: 'restored' });
    const entity_id = randomUUID();
    await first.publishes({ entity_id });
    const other = await first.publishes();
    await decideUser(first.id, 'hide_all', byMia);
    await applyStream();
    await decideUser(first.id, 'restore_all', byMia);
    await applyStream();
    await setAttributes(userKey(first.id), { hiding: 'x' });
    await first.leaves();
    await applyStream();
    const next = await signIn({ subject: 'restored' });
    await next.publishes({ entity_id });
    expect(await readItem(reviewKey(other))).toBeUndefined();
    await expectExact();
  });
});

/** Runs something that is stopped before each of its transactions in turn, until it is done. */
async function inPieces(run: () => Promise<unknown>): Promise<void> {
  for (let stopAt = 1; ; stopAt++) {
    let sent = 0;
    const spy = beforeSend(({ input }) => {
      if (input.TransactItems && ++sent > stopAt % 3) throw new Error('stopped');
    });
    const stopped = await run().catch((error: Error) => error);
    spy.mockRestore();
    if (!(stopped instanceof Error)) return;
    expect(stopped.message).toBe('stopped');
  }
}

describe('the names of an account', () => {
  const recordsOf = (entities: readonly Entity[]) => Promise.all(entities.map(readRecord));

  test('are set back to what they were before, or removed, and come back in one go', async () => {
    const [spammer, other] = await makeUsers(2);
    const first = await nameNew(spammer, { name: 'Cheap watches' });
    const twice = await nameNew(spammer, { name: 'Cheap' });
    stopClock(Date.now() + 1);
    await correct(spammer, twice, { name: 'Cheaper', about: 'Call now' });
    // A database's name, which a moderator lets the spammer have: so it was before the rule.
    const ofDatabase = newWork();
    const words = { name: 'Blue Train', origin: 'musicdb', version: 1 } as const;
    await writeRecords([recordWrites(undefined, { ...ofDatabase, ...words })]);
    const before = await readRecord(ofDatabase);
    await writeOver(before, { ...ofDatabase, name: 'Watches' }, spammer);
    const published = await reviewNew(spammer, { name: 'In the form' });
    const all = [first, twice, ofDatabase, published];
    const given = await recordsOf(all);
    await applyStream();

    const taken = await decideUser(spammer.id, 'hide_all', byMia);
    await inPieces(() => undoAll(spammer.id));
    expect(await recordsOf(all)).toMatchObject([
      { name: 'Cheap watches', state: 'removed' },
      { name: 'Cheaper', state: 'removed' },
      { name: 'Blue Train', origin: 'musicdb' },
      { name: 'In the form', state: 'removed' },
    ]);
    const parts = (await logOf(spammer)).filter(({ part_of }) => part_of === taken.id);
    expect(parts.map(({ decision }) => decision).toSorted()).toEqual([
      'correct',
      'hide',
      'remove',
      'remove',
      'remove',
    ]);

    await decideUser(spammer.id, 'restore_all', byBen);
    await inPieces(() => undoAll(spammer.id));
    const restored = await recordsOf(all);
    const shownOf = (records: typeof given) => {
      const names = ['name', 'about', 'url', 'origin', 'user_id', 'state', 'is_confirmed'] as const;
      return records.map((record) => pick(record as EntityRecord, names));
    };
    expect(shownOf(restored)).toEqual(shownOf(given));
    await applyStream();
    await expectExact();
    expect((await other.publishes(first)).length).toBe(36);
  });

  test('of before somebody else wrote the same words are not taken back with later ones', async () => {
    const spammer = await makeUser();
    const entity = await nameNew(spammer, { name: 'Solaris' });
    for (const name of ['Solyaris', 'Solaris']) {
      stopClock(Date.now() + 1);
      await correct(mia, entity, { name });
    }
    stopClock(Date.now() + 1);
    const before = await readRecord(entity);
    await writeOver(before, { ...entity, name: 'Watches' }, spammer);
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    const record = await readRecord(entity);
    expect(record).toMatchObject({ name: 'Solaris', user_id: mia.id });
    expect(record?.state).toBeUndefined();
  });

  test('that older code has not logged are removed too', async () => {
    const spammer = await makeUser();
    const entity = newWork();
    const written_at = new Date().toISOString();
    const words = { name: 'Old watches', origin: 'member', user_id: spammer.id } as const;
    await writeRecords([recordWrites(undefined, { ...entity, ...words, written_at })]);
    await decideUser(spammer.id, 'hide_all', byMia);
    await applyStream();
    expect(await readRecord(entity)).toMatchObject({ state: 'removed' });
  });

  test('do not outlive an account that is deleted while they are taken back', async () => {
    const [spammer, quitter] = await makeUsers(2);
    const ofSpammer = await nameNew(spammer, { name: 'Cheap watches' });
    const ofQuitter = await nameNew(quitter, { name: 'Nosferatu' });
    await decideUser(spammer.id, 'hide_all', byMia);
    await Promise.all([spammer.leaves(), quitter.leaves()]);
    await applyStream();
    const [taken, kept] = await recordsOf([ofSpammer, ofQuitter]);
    expect(taken).toMatchObject({ state: 'removed' });
    expect(taken?.user_id).toBeUndefined();
    expect(kept).toMatchObject({ name: 'Nosferatu' });
    expect(kept?.state).toBeUndefined();
    expect(kept?.user_id).toBeUndefined();
    const log = (await scanTable()).filter(({ sk }) => sk === 'DECISION');
    expect(log.filter(({ author }) => `${author}`.endsWith(spammer.id))).toEqual([]);
    await expectExact();
  });

  test('that are given at the moment of the decision are taken back or refused', async () => {
    for (let round = 0; round < 3; round++) {
      const spammer = await makeUser();
      const entities = Array.from({ length: 6 }, newWork);
      await Promise.all([
        decideUser(spammer.id, 'hide_all', byMia),
        ...entities.map((entity) => correct(spammer, entity, { name: 'Watches' })),
      ]);
      await applyStream();
      const given = (await recordsOf(entities)).flatMap((record) => record ?? []);
      expect(given.filter(({ state }) => state !== 'removed')).toEqual([]);
    }
  });
});

/** Writes words over a record, as a correction by a person with its entry in the log. */
async function writeOver(
  before: EntityRecord | undefined,
  words: Entity & { name: string },
  person: Person,
): Promise<void> {
  const written_at = new Date().toISOString();
  const after: EntityRecord = { ...words, origin: 'member', user_id: person.id, written_at };
  const entry = logEntry(entryOf('correct', { before, after } as never, by(person)));
  await transact([...recordWrites(before, after), entry]);
}
