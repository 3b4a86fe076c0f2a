import { randomUUID } from 'node:crypto';
import { transact } from '../../shared/base/table/transact.ts';
import { dailyVotesKey, reviewKey, userKey, voteKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { choices } from '../helpers/choices.ts';
import { silence } from '../helpers/console.ts';
import type { TestResponse } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { differences } from '../helpers/recount.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, type Person, reviewBody, text, visitor } from '../helpers/world.ts';

let author: Person;
beforeEach(async () => {
  author = await makeUser();
});

const again = { text: `${text} Again.` };

/** Does `act`, and `meanwhile` before each of its transactions. */
async function disturb<T>(act: () => Promise<T>, meanwhile: () => Promise<unknown>) {
  const sends = beforeSend(async ({ input }) => {
    if (input.TransactItems) await meanwhile();
  });
  try {
    return await act();
  } finally {
    sends.mockRestore();
  }
}

function many<T>(count: number, act: (i: number) => Promise<T>) {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i)));
}

function statuses(answers: readonly TestResponse[]) {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function votesToday({ id }: Person) {
  const day = new Date().toISOString().slice(0, 10);
  return (await readItem(dailyVotesKey(id, day)))?.count;
}

async function expectExactCounts() {
  await applyStream();
  expect(await differences()).toEqual([]);
}

describe('in parallel', () => {
  test('20 reviews by one user of one entity store one', async () => {
    const body = reviewBody();
    const answers = await many(20, () => author.triesToPublish(body));
    expect(statuses(answers)).toEqual({ 200: 1, 400: 19 });
    await expectExactCounts();
  });

  test('30 votes on one review are all counted', async () => {
    const review_id = await author.publishes();
    const voters = await makeUsers(30);
    const answers = await Promise.all(
      voters.map((voter, i) => voter.triesToVote(review_id, { vote: i % 3 > 0 })),
    );
    expect(statuses(answers)).toEqual({ 200: 30 });
    const { body } = await visitor.reads(review_id);
    expect(body.review).toMatchObject({
      popularity: 10,
      votes: { positive: 20, negative: 10 },
      user: { karma: 10 },
    });
    await expectExactCounts();
  });

  test('25 votes by a user with 10 left count 10', async () => {
    const authors = await makeUsers(25);
    const ids = await Promise.all(authors.map((user) => user.publishes()));
    const voter = await makeUser();
    const answers = await Promise.all(ids.map((id) => voter.triesToVote(id, { vote: true })));
    expect(statuses(answers)).toEqual({ 200: 10, 403: 15 });
    expect(await votesToday(voter)).toBe(10);
    await expectExactCounts();
  });

  test('20 identical votes by one user count and spend one', async () => {
    const review_id = await author.publishes();
    const voter = await makeUser();
    const answers = await many(20, () => voter.triesToVote(review_id, { vote: true }));
    expect(statuses(answers)).toEqual({ 200: 20 });
    expect(await readItem(reviewKey(review_id))).toMatchObject({ votes_positive: 1 });
    expect(await votesToday(voter)).toBe(1);
  });

  test('10 updates of one review make a revision each', async () => {
    const review_id = await author.publishes();
    const texts = Array.from({ length: 10 }, (_, i) => `${text} Update number ${i}.`);
    const answers = await Promise.all(texts.map((text) => author.edits(review_id, { text })));
    expect(statuses(answers)).toEqual({ 200: 10 });
    const { body } = await visitor.listsRevisions(review_id);
    const revisions: { id: number; text: string }[] = body.revisions;
    expect(revisions.map(({ id }) => id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(revisions.map(({ text }) => text)).size).toBe(11);
    await expectExactCounts();
  });

  test('30 voters, 20 editors and 10 deleters leave an exact entity summary', async () => {
    const entity_id = randomUUID();
    const content = { entity_id, entity_type: 'work' };
    const made = await many(30, async (i) => {
      const [author, voter] = await makeUsers(2);
      return { author, voter, id: await author.publishes({ ...content, rating: 1 + (i % 5) }) };
    });
    const edits = [{ rating: 5 }, { rating: null }, { text: null }, { rating: 1 }];
    const answers = await Promise.all([
      Promise.all(made.map(({ voter, id }, i) => voter.triesToVote(id, { vote: i % 4 > 0 }))),
      // Half of them edit reviews that are deleted meanwhile.
      Promise.all(made.slice(0, 20).map(({ author, id }, i) => author.edits(id, edits[i % 4]))),
      Promise.all(made.slice(0, 10).map(({ author, id }) => author.deletes(id))),
    ]);
    for (const { status } of answers.flat()) expect([200, 400, 404]).toContain(status);
    expect(statuses(answers[2])).toEqual({ 200: 10 });

    const reviews = (await scanTable()).filter(({ sk }) => sk === 'REVIEW');
    const left = reviews.filter((review) => review.entity_id === entity_id);
    expect(left).toHaveLength(20);
    const stars = left.flatMap(({ rating }) => (rating === null ? [] : [Number(rating)]));
    const countOf = (star: number) => stars.filter((each) => each === star).length;
    const sum = stars.reduce((total, each) => total + each, 0);
    const rating = Math.round((10 * sum) / stars.length) / 10;
    const { body } = await visitor.readsEntity(entity_id);
    expect(body.entity).toEqual({
      id: entity_id,
      entity_type: 'work',
      state: null,
      leads_to: null,
      led_from: [],
      review_count: 20,
      languages: { en: 20 },
      average_rating: { rating, count: stars.length },
      ratings: Object.fromEntries([1, 2, 3, 4, 5].map((star) => [star, countOf(star)])),
    });
    for (const rating of ['1', '5', '2,3,4']) {
      const list = await visitor.lists({ entity_id, rating });
      const expected = stars.filter((each) => rating.includes(`${each}`)).length;
      expect(list.body.count).toBe(expected);
      expect(list.body.reviews).toHaveLength(expected);
    }
    await expectExactCounts();
  });

  test('18 changes of one name beside 30 votes on its owner all succeed', async () => {
    const ids = [await author.publishes(), await author.publishes()];
    const voters = await makeUsers(30);
    const [answers, votes] = await Promise.all([
      many(18, (i) => author.updatesProfile({ display_name: `Ann ${i}` })),
      many(30, (i) => (voters[i] as Person).triesToVote(`${ids[i % 2]}`, { vote: true })),
      applyStream(),
    ]);
    expect(statuses(answers)).toEqual({ 200: 18 });
    expect(statuses(votes)).toEqual({ 200: 30 });
    const user = await readItem(userKey(author.id));
    expect(user).toMatchObject({ display_name: expect.stringMatching(/^Ann \d+$/), karma: 30 });
    await expectExactCounts();
  });

  test('10 deletions of one review: one succeeds', async () => {
    const review_id = await author.publishes();
    const answers = await many(10, () => author.deletes(review_id));
    expect(statuses(answers)).toEqual({ 200: 1, 404: 9 });
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 0 });
    await expectExactCounts();
  });
});

test.each<[string, (id: string) => Promise<unknown>]>([
  ['an update', (id) => author.edits(id, again)],
  ['the loss of its text', (id) => author.edits(id, { text: null })],
  ['its deletion', (id) => author.deletes(id)],
  ['its hiding', (id) => setHidden(id, true)],
])('votes that race with %s leave exact counts', async (_, act) => {
  const review_id = await author.publishes();
  const voters = await makeUsers(12);
  const answers = await Promise.all([
    ...voters.slice(0, 6).map((voter) => voter.triesToVote(review_id, { vote: true })),
    act(review_id),
    ...voters.slice(6).map((voter) => voter.triesToVote(review_id, { vote: false })),
    ...voters.slice(0, 3).map((voter) => voter.triesToVote(review_id, { vote: false })),
  ]);
  for (const answer of answers) {
    expect([200, 400, 404, undefined]).toContain((answer as TestResponse | undefined)?.status);
  }
  await expectExactCounts();
});

describe('between the read and the write of', () => {
  let reader: Person;
  let id: string;
  beforeEach(async () => {
    reader = await makeUser();
    id = await author.publishes();
  });

  const up = () => reader.triesToVote(id, { vote: true });
  const down = () => reader.triesToVote(id, { vote: false });
  const takeBack = () => reader.withdrawsVote(id);
  const report = () => reader.reports(id);
  const edit = () => author.edits(id, again);
  const unrate = () => author.edits(id, { rating: null });
  const loseText = () => author.edits(id, { text: null });
  const withdraw = () => author.deletes(id);
  const hide = () => setHidden(id, true);
  const show = () => setHidden(id, false);
  const otherVote = async () => (await makeUser()).triesToVote(id, { vote: false });
  const block = () => setAttributes(userKey(reader.id), { blocked_at: new Date().toISOString() });

  test.each<[string, string, () => Promise<TestResponse>, () => Promise<unknown>, number]>([
    ['a vote', 'an update', up, edit, 200],
    ['a vote', 'the loss of the text', up, loseText, 400],
    ['a vote', 'a deletion', up, withdraw, 404],
    ['a vote', 'a hiding', up, hide, 404],
    ['a vote', 'another vote', up, otherVote, 200],
    ['a vote', 'the same vote', up, up, 200],
    ['a vote', 'the opposite vote', up, down, 200],
    ['a vote', 'a hiding and its end', up, () => hide().then(show), 200],
    ['a vote', 'the blocking of the voter', up, block, 403],
    ['an update', 'a vote', edit, up, 200],
    ['an update', 'the same update', edit, edit, 200],
    ['an update', 'another update', edit, unrate, 200],
    ['an update', 'the loss of the text', unrate, loseText, 400],
    ['an update', 'a deletion', edit, withdraw, 404],
    ['an update', 'a hiding', edit, hide, 200],
    ['a deletion', 'a vote', withdraw, up, 200],
    ['a deletion', 'an update', withdraw, edit, 200],
    ['a deletion', 'a deletion', withdraw, withdraw, 404],
    ['a deletion', 'a hiding', withdraw, hide, 200],
    ['a report', 'a deletion', report, withdraw, 404],
    ['a report', 'a hiding', report, hide, 404],
    ['a report', 'the same report', report, report, 200],
    ['a taking back', 'a deletion', takeBack, withdraw, 404],
    ['a taking back', 'a hiding', takeBack, hide, 404],
    ['a taking back', 'the same', takeBack, takeBack, 404],
    ['a taking back', 'the opposite vote', takeBack, down, 200],
    ['a taking back', 'an update and a vote', takeBack, () => edit().then(up), 200],
  ])('%s comes %s', async (what, _, act, meanwhile, status) => {
    if (what === 'a taking back') await up();
    let acted = false;
    const answer = await disturb(act, async () => {
      if (acted) return;
      acted = true;
      await meanwhile();
    });
    expect({ acted, status: answer.status }).toEqual({ acted: true, status });
    if (what === 'a vote' && status === 200) {
      const revision = Number((await readItem(reviewKey(id)))?.edits) + 1;
      expect(await readItem(voteKey(id, reader.id))).toMatchObject({ vote: true, revision });
    }
    await transact([{ Update: { Key: userKey(reader.id), set: { blocked_at: undefined } } }]);
    await expectExactCounts();
  });
});

describe('a deletion while votes make each of its writes too late', () => {
  let id: string;
  let votes: TestResponse[];
  beforeEach(async () => {
    id = await author.publishes();
    votes = [];
  });

  /**
   * Deletes while somebody votes before every transaction of the deletion. After `most`
   * transactions the database is down.
   */
  async function removeInStorm(most = Number.POSITIVE_INFINITY): Promise<TestResponse> {
    const voters = await makeUsers(20);
    let isVoting = false;
    let writes = 0;
    return disturb(
      () => author.deletes(id),
      async () => {
        if (isVoting) return;
        if (++writes > most) throw Object.assign(new Error('gone'), { name: 'TimeoutError' });
        isVoting = true;
        votes.push(await (voters.pop() as Person).triesToVote(id, { vote: true }));
        isVoting = false;
      },
    );
  }

  test('succeeds, and refuses votes from its first success on', async () => {
    expect(await removeInStorm()).toHaveStatus(200);
    // Too late, withdrawn although a vote came first, deleted.
    expect(votes.map(({ status }) => status)).toEqual([200, 200, 404]);
    expect(await readItem(reviewKey(id))).toBeUndefined();
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 0 });
    await expectExactCounts();
    expect(await author.deletes(id)).toHaveStatus(404);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['the author tries again', async () => expect(await author.deletes(id)).toHaveStatus(200)],
    ['the stream is followed', applyStream],
    [
      'the author leaves',
      async () => {
        await author.leaves();
        await applyStream();
      },
    ],
  ])('that stops half-way shows nothing, and completes when %s', async (_, finish) => {
    silence('error');
    expect(await removeInStorm(2)).toHaveStatus(503);
    jest.mocked(console.error).mockRestore();
    expect(await readItem(reviewKey(id))).toMatchObject({ votes_positive: 2 });

    const reader = await makeUser();
    const answers = await Promise.all([
      visitor.reads(id),
      reader.triesToVote(id, { vote: true }),
      reader.deletes(id),
      reader.reports(id),
      author.edits(id, again),
    ]);
    expect(statuses(answers)).toEqual({ 404: 5 });
    await expect(setHidden(id, false)).rejects.toHaveStatus(404);
    const own = await author.listsOwnReviews();
    expect(own).toHaveStatus(200);
    expect(own.body.reviews).toEqual([]);
    const all = await visitor.lists({ user_id: author.id });
    expect(all.body).toMatchObject({ count: 0, reviews: [] });

    await finish();
    expect(await readItem(reviewKey(id))).toBeUndefined();
    const item = await readItem(userKey(author.id));
    expect([0, undefined]).toContain(item?.karma);
    await expectExactCounts();
  });
});

test.each([
  ['of 8 users at a time', 7, 0],
  ['while accounts are deleted and the stream is followed', 8, 0.03],
])('300 operations %s leave exact counts', async (_, seed, deletions) => {
  const { random, below } = choices(seed);
  const users = [author, ...(await makeUsers(11))];
  const entities = Array.from({ length: 4 }, randomUUID);
  const types = ['artist', 'work', 'bk_author', 'event'];
  const reviews: { id: string; user: Person }[] = [];
  const seen: Record<string, number> = {};

  async function act(user: Person): Promise<void> {
    const target = reviews[below(reviews.length)];
    const review_id = target?.id ?? randomUUID();
    const owner = target?.user ?? user;
    const rating = [null, 1, 3, 5][below(4)];
    const content = { text: random() < 0.7 ? `${text}${below(3)}` : null, rating };
    const dice = random() + deletions;
    let answer: TestResponse | undefined;
    if (dice < 0.2 || !target) {
      const entity = below(4);
      const body = reviewBody({
        ...content,
        entity_id: entities[entity],
        entity_type: types[entity],
        language: ['en', 'de'][below(2)],
        is_draft: random() < 0.3,
      });
      answer = await user.triesToPublish(body);
      if (answer.status === 200) reviews.push({ id: answer.body.id, user });
    } else if (dice < 0.55) {
      answer = await user.triesToVote(review_id, { vote: random() < 0.6 });
    } else if (dice < 0.65) {
      answer = await user.withdrawsVote(review_id);
    } else if (dice < 0.8) {
      const isPublished = random() < 0.4;
      answer = await owner.edits(
        review_id,
        isPublished ? { ...content, is_draft: false } : content,
      );
    } else if (dice < 0.85) {
      answer = await owner.deletes(review_id);
    } else if (dice < 0.9) {
      answer = await user.reports(review_id);
    } else if (dice < 1) {
      await setHidden(review_id, random() < 0.5).catch((error) => {
        if (error.status !== 404) throw error;
      });
    } else {
      answer = await user.triesToLeave();
    }
    const status = answer?.status ?? 0;
    seen[status] = (seen[status] ?? 0) + 1;
    if (status >= 500) throw new Error(JSON.stringify(answer?.body));
  }

  for (let round = 0; round < 3; round++) {
    await Promise.all([
      many(8, async (actor) => {
        for (let i = 0; i < 13; i++) await act(users[(actor + i) % users.length] ?? author);
      }),
      deletions > 0 && applyStream(),
    ]);
    await expectExactCounts();
  }
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(['0', '200', '400', '404']));
});
