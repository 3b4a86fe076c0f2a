import { collect, queryIndex } from '../../../../shared/base/table/query.ts';
import { caseKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { listDecisions } from '../../../../shared/core/report/decision-log.ts';
import { appeal, decideReview } from '../../../../shared/core/report/decision-repository.ts';
import { eraseReport, insertReport } from '../../../../shared/core/report/report-repository.ts';
import { setModerator } from '../../../../shared/core/user/name-repository.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { choices } from '../../../helpers/choices.ts';
import { readItem } from '../../../helpers/items.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import {
  by,
  makeModerator,
  makeUser,
  makeUsers,
  operator,
  type Person,
  text,
} from '../../../helpers/world.ts';

const author = await makeUser({ display_name: 'Ann' });
const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');
const byMia = by(mia);

let editions = 0;

const why = { reason: 'spam', note: 'A shop.' } as const;

async function report(review_id: string, count = 1): Promise<void> {
  const readers = await makeUsers(count);
  const answers = await Promise.all(readers.map((reader) => reader.reports(review_id, {})));
  expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(200));
}

async function places(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const order of ['date', 'popularity'] as const) {
    for (const partition of ['CASE', 'CASE#held', 'CASE#appeal']) {
      const entries = await collect(queryIndex(`all-by-${order}`, partition));
      if (entries.some(({ pk }) => pk === reviewKey(id).pk)) found.push(order);
    }
  }
  return found;
}

async function reported(count = 1): Promise<string> {
  const id = await author.publishes();
  await report(id, count);
  return id;
}

test('a case counts its reports by reason, and free text as “other”', async () => {
  const id = await author.publishes();
  const sent = ['spam', 'Spam', 'abuse', 'copyright', 'constructor', 'It is <mine>', 'spam, abuse'];
  for (const [i, { id: user_id }] of (await makeUsers(sent.length)).entries()) {
    await insertReport({ id, user_id: author.id }, { user_id, reason: `${sent[i]}` });
  }
  const counted = { reports: 7, spam: 2, abuse: 1, off_topic: 0, copyright: 1, other: 3 };
  expect(await readItem(caseKey(id))).toMatchObject(counted);
  await mia.decides(id, 'dismiss');
  const none = { reports: 0, spam: 0, abuse: 0, off_topic: 0, copyright: 0, other: 0 };
  expect(await readItem(caseKey(id))).toMatchObject(none);
  await expectExact();
});

test('20 parallel reports make one case that counts them all', async () => {
  const id = await reported(20);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 20, round: 0 });
  expect(await places(id)).toEqual(['date', 'popularity']);
  await report(id);
  expect(await readItem(caseKey(id))).toMatchObject({ reports: 21 });
  await expectExact();
});

test('a moderator cannot decide on a review they have ever reported', async () => {
  const id = await reported();
  const message = 'You have reported this review: another moderator decides on it';
  const refused = { status: 400, message };
  await mia.reports(id, {});
  for (const verdict of ['hide', 'dismiss'] as const) {
    await expect(mia.decides(id, verdict)).rejects.toMatchObject(refused);
  }
  const { version = 0 } = (await readItem(caseKey(id))) as { version?: number };
  await expect(decideReview(id, 'hide', byMia, { version, edits: 0 })).rejects.toMatchObject(
    refused,
  );
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: false });
  await ben.decides(id, 'hide');
  await expect(mia.decides(id, 'restore')).rejects.toMatchObject(refused);
  await decideReview(id, 'restore', operator);
  // The same holds if both run in parallel.
  for (let i = 0; i < 10; i++) {
    const other = await reported();
    const both = [mia.reports(other, {}), mia.decides(other, 'hide')] as const;
    const [report, decision] = await Promise.allSettled(both);
    const isFiled = report.status === 'fulfilled' && report.value.status === 200;
    expect([isFiled, decision.status === 'fulfilled']).not.toEqual([true, true]);
  }
});

test('the queue lists the most reported first, then the oldest', async () => {
  const few = await reported(1);
  const many = await reported(3);
  const some = await reported(2);
  const inOrder = async (order: 'date' | 'popularity', descending: boolean) => {
    const entries = await collect(queryIndex(`all-by-${order}`, 'CASE', { descending }));
    const ids = entries.map(({ pk }) => pk.slice('REVIEW#'.length));
    return ids.filter((id) => [few, many, some].includes(id));
  };
  expect(await inOrder('date', false)).toEqual([few, many, some]);
  expect(await inOrder('popularity', true)).toEqual([many, some, few]);
});

test('of two parallel moderators one decides, and the other learns who', async () => {
  for (let i = 0; i < 5; i++) {
    const id = await reported(2);
    const file = await readItem(caseKey(id));
    const seen = { version: Number(file?.version), edits: 0 };
    const outcomes = await Promise.allSettled([
      decideReview(id, 'hide', byMia, seen),
      decideReview(id, 'dismiss', by(ben), seen),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [first] = outcomes;
    const lost = outcomes.find((outcome) => outcome.status === 'rejected');
    const isMia = first.status === 'fulfilled';
    const message = `${isMia ? 'Mia' : 'Ben'} has decided on it meanwhile, so nothing was changed`;
    expect(lost?.reason).toMatchObject({ status: 400, message });
    const log = await listDecisions(100, { userId: author.id });
    const made = isMia
      ? { decision: 'hide', moderator_id: mia.id }
      : { decision: 'dismiss', moderator_id: ben.id };
    expect(log.decisions.filter(({ review_id }) => review_id === id)).toMatchObject([
      { ...made, reports: 2, ...why },
    ]);
    expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: isMia });
    expect(await places(id)).toEqual([]);
  }
  await expectExact();
});

test('a decision is refused if the review has changed since it was shown', async () => {
  const id = await reported();
  const seen = async () => {
    const file = await readItem(caseKey(id));
    const review = await readItem(reviewKey(id));
    return { version: Number(file?.version), edits: Number(review?.edits) };
  };
  const again = 'reported again or edited since you opened this page: please look once more';
  const changed = { message: `The review was ${again}` };
  const first = await seen();
  await report(id);
  await expect(decideReview(id, 'hide', byMia, first)).rejects.toMatchObject(changed);
  const second = await seen();
  await author.edits(id, { text: 'A record that gets worse with every single listen.' });
  await expect(decideReview(id, 'hide', byMia, second)).rejects.toMatchObject(changed);
  const third = await seen();
  // Two clicks make one decision.
  await Promise.all([
    decideReview(id, 'hide', byMia, third),
    decideReview(id, 'hide', byMia, third),
  ]);
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: true });
  expect(await readItem(caseKey(id))).toMatchObject({ round: 1 });
  const late = decideReview(id, 'hide', by(ben), third);
  const message = 'Mia has decided on it meanwhile, so nothing was changed';
  await expect(late).rejects.toMatchObject({ message });
});

test('a report overtaken by a decision belongs to the next round', async () => {
  const id = await reported(2);
  let isOvertaken = false;
  beforeTransaction(async () => {
    isOvertaken = true;
    await mia.decides(id, 'dismiss');
    await report(id);
  });
  await report(id);
  expect(isOvertaken).toBe(true);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 2, round: 1 });
  await expectExact();
});

test('a dismissed review that is reported again returns with the new reports only', async () => {
  const id = await reported(3);
  expect(await mia.decides(id, 'dismiss')).toMatchObject({ reports: 3 });
  expect(await places(id)).toEqual([]);
  await report(id, 2);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', reports: 2, round: 1 });
  await expectExact();
});

test.each([
  ['dismiss', 'There is nothing to decide on this review'],
  ['restore', 'The review is not hidden'],
  ['uphold', 'The review is not hidden'],
] as const)('a review without reports cannot be decided by %s', async (verdict, message) => {
  const decided = mia.decides(await author.publishes(), verdict);
  await expect(decided).rejects.toMatchObject({ status: 400, message });
});

test('only moderators decide, and never on their own reviews', async () => {
  const own = await mia.publishes();
  await report(own);
  const message = 'This review is your own: another moderator decides on it';
  await expect(mia.decides(own, 'dismiss')).rejects.toMatchObject({ message });
  await ben.decides(own, 'dismiss');
  const id = await reported();
  const former = await makeModerator('Ida');
  const blocked = await makeModerator('Bea');
  await setModerator(former.id, false);
  await decideUser(blocked.id, 'block', operator);
  for (const other of [await makeUser(), former, blocked]) {
    await expect(other.decides(id, 'hide')).rejects.toHaveStatus(404);
    const { id: victim } = await makeUser();
    await expect(decideUser(victim, 'block', by(other))).rejects.toHaveStatus(404);
    expect(await readItem(userKey(victim))).not.toHaveProperty('blocked_at');
  }
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: false });
});

test('blocking or unblocking twice makes one decision', async () => {
  const user = await makeUser();
  const { id } = user;
  const review_id = await user.publishes();
  for (const verdict of ['block', 'unblock'] as const) {
    const first = await decideUser(id, verdict, byMia);
    // Decisions on the account's reviews do not count as decisions on the account.
    await mia.decides(review_id, 'hide');
    await mia.decides(review_id, 'restore');
    expect(await decideUser(id, verdict, byMia)).toEqual(first);
    const { decisions } = await listDecisions(20, { userId: id });
    expect(decisions.filter(({ decision }) => decision === verdict)).toHaveLength(1);
    const others = [{ note: 'Another.' }, { reason: 'other' as const }, { moderator_id: ben.id }];
    for (const other of others) {
      const again = decideUser(id, verdict, { ...byMia, ...other });
      await expect(again).rejects.toHaveStatus(400);
    }
  }
  // Blocking again after an unblock is no duplicate.
  await decideUser(id, 'block', byMia);
  expect(await readItem(userKey(id))).toHaveProperty('blocked_at');
});

test('an author appeals once, and another moderator decides', async () => {
  const id = await reported();
  await expect(appeal(id, author.id, '')).rejects.toHaveStatus(400);
  await mia.decides(id, 'hide');
  await expect(appeal(id, ben.id, '')).rejects.toHaveStatus(404);
  // Two clicks make one appeal.
  await Promise.all([1, 2].map(() => appeal(id, author.id, 'It is mine.')));
  expect(await readItem(caseKey(id))).toMatchObject({ version: 3 });
  // A different text would be lost, so it is refused.
  const appealed = { message: 'You have appealed against this decision already' };
  await expect(appeal(id, author.id, 'It is mine, and new.')).rejects.toMatchObject(appealed);
  expect(await readItem(caseKey(id))).toMatchObject({ state: 'open', appeal: 'It is mine.' });
  expect(await places(id)).toEqual(['date', 'popularity']);
  for (const verdict of ['uphold', 'restore'] as const) {
    const message = 'The author appeals against your decision: another moderator decides on it';
    await expect(mia.decides(id, verdict)).rejects.toMatchObject({ status: 400, message });
  }
  await ben.decides(id, 'uphold');
  const moderation = { decision: 'uphold', ...why };
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: true, moderation });
  await expect(appeal(id, author.id, '')).rejects.toMatchObject(appealed);
  await mia.decides(id, 'restore');
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: false, all: 'REVIEW' });
  // Another decision allows another appeal.
  await ben.decides(id, 'hide');
  await appeal(id, author.id, '');
  await mia.decides(id, 'restore');
  await expectExact();
});

test('a blocked author may appeal, and their reviews can be decided', async () => {
  const blocked = await makeUser();
  const id = await blocked.publishes();
  await report(id);
  await decideUser(blocked.id, 'block', byMia);
  await mia.decides(id, 'hide');
  await appeal(id, blocked.id, '');
  await ben.decides(id, 'restore');
  expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: false });
});

test('parallel moderators block an account once, and cannot block each other', async () => {
  const { id } = await makeUser();
  const block = (moderator: Person, of = id) => decideUser(of, 'block', by(moderator));
  const outcomes = await Promise.allSettled([block(mia), block(ben)]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const log = async () => (await listDecisions(9, { userId: id })).decisions;
  expect(await log()).toHaveLength(1);
  await expect(block(mia, ben.id)).rejects.toMatchObject({
    message: 'A moderator is blocked by the operator of the service alone',
  });
  await decideUser(id, 'unblock', by(ben));
  await expect(decideUser(id, 'unblock', byMia)).rejects.toMatchObject({
    message: 'This account is not blocked',
  });
  expect((await log()).map(({ decision }) => decision)).toEqual(['unblock', 'block']);
});

test('parallel reports, decisions, appeals, edits and erasures leave exact numbers', async () => {
  const { pick } = choices(14);
  const authors = await makeUsers(3);
  const readers = await makeUsers(12);
  const isGone = { ConditionCheck: { Key: userKey('nobody'), was: { pk: undefined } } };
  const reviews = await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (i) => {
      const author = authors[i % 3] as Person;
      return { id: await author.publishes(), author };
    }),
  );
  const deeds = {
    report: async () => {
      const { id, author } = pick(reviews);
      const reader = pick(readers);
      const reason = pick(['spam', 'Spam', 'abuse', 'off_topic', 'copyright', 'other', 'Mine']);
      await insertReport({ id, user_id: author.id }, { user_id: reader.id, reason });
    },
    decide: () =>
      pick([mia, ben]).decides(pick(reviews).id, pick(['hide', 'dismiss', 'restore', 'uphold'])),
    appeal: async () => {
      const { id, author } = pick(reviews);
      await appeal(id, author.id, '');
    },
    edit: async () => {
      const { id, author } = pick(reviews);
      await author.edits(id, { text: `${text} Edition ${++editions}.` });
    },
    leave: async () => {
      await eraseReport(pick(reviews).id, pick(readers).id, isGone);
    },
  };
  const names = ['report', 'report', 'decide', 'appeal', 'edit', 'leave'] as const;
  const plan = Array.from({ length: 200 }, () => deeds[pick(names)]);
  let done = 0;
  for (let start = 0; start < plan.length; start += 20) {
    const outcomes = await Promise.allSettled(plan.slice(start, start + 20).map((deed) => deed()));
    for (const outcome of outcomes) {
      // Late operations are refused, and nothing else fails.
      if (outcome.status === 'fulfilled') done++;
      else expect([400, 404]).toContain(outcome.reason.status);
    }
  }
  expect(done).toBeGreaterThan(60);
  await expectExact();
  for (const { id, author } of reviews) {
    const log = await listDecisions(1000, { userId: author.id });
    const decisions = log.decisions.filter(({ review_id }) => review_id === id);
    const file = await readItem(caseKey(id));
    const { spam, abuse, off_topic, copyright, other } = file as Record<string, number>;
    const sum = [spam, abuse, off_topic, copyright, other].reduce((a = 0, b = 0) => a + b, 0);
    expect(sum).toBe(file?.reports);
    expect(decisions).toHaveLength(Number(file?.round ?? 0));
    expect(await places(id)).toEqual(file?.state === 'open' ? ['date', 'popularity'] : []);
  }
});
