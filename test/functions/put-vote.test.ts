import { dailyVotesKey, reviewKey, userKey, voteKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { beginErasure, makeUser, makeUsers, type Person, text, visitor } from '../helpers/world.ts';

const today = () => new Date().toISOString().slice(0, 10);
let author: Person;
let voter: Person;
let id: string;

beforeEach(async () => {
  author = await makeUser();
  voter = await makeUser();
  id = await author.publishes();
});

/**
 * Returns the positive and negative votes of the review and of each revision from the first on,
 * then the author's karma.
 */
async function counts() {
  const { popularity, votes, user } = await visitor.sees(id);
  const { revisions } = (await visitor.listsRevisions(id)).body;
  expect(popularity).toBe(votes.positive - votes.negative);
  const ofRevisions = revisions
    .map((revision: Record<string, number>) => [revision.votes_positive, revision.votes_negative])
    .reverse();
  return [[votes.positive, votes.negative], ...ofRevisions, user.karma];
}

const spent = async (user: Person = voter) =>
  (await readItem(dailyVotesKey(user.id, today())))?.count;

describe('PUT /review/{review_id}/vote', () => {
  test('stores the vote, and counts it on the review, revision, author and day', async () => {
    const body = { message: 'Request processed successfully' };
    expect(await voter.triesToVote(id, { vote: true, colour: 'red' })).toMatchObject({
      status: 200,
      body,
    });
    const stored = { review_id: id, user_id: voter.id, vote: true, revision: 1 };
    expect(await readItem(voteKey(id, voter.id))).toMatchObject(stored);
    expect(await counts()).toEqual([[1, 0], [1, 0], 1]);
    const counter = await readItem(dailyVotesKey(voter.id, today()));
    // 38 days after the day began, so that the daily job may be a week late.
    const expires_at = Date.parse(today()) / 1000 + 38 * 86_400;
    expect(counter).toMatchObject({ count: 1, cast: 1, expires_at });
  });

  test('changes nothing when the same vote is cast again', async () => {
    await voter.votes(id);
    const before = await readItem(reviewKey(id));
    const cast = await readItem(voteKey(id, voter.id));
    await voter.votes(id);
    expect(await readItem(reviewKey(id))).toEqual(before);
    expect(await readItem(voteKey(id, voter.id))).toEqual(cast);
    expect(await spent()).toBe(1);
  });

  test('counts a vote on the revision it was last cast on', async () => {
    const [second, third] = await makeUsers(2);
    await voter.votes(id, 'up');
    await second.votes(id, 'down');
    await author.edits(id, { text: `${text} More.` });
    expect(await counts()).toEqual([[1, 1], [1, 1], [0, 0], 0]);
    await third.votes(id, 'up');
    expect(await counts()).toEqual([[2, 1], [1, 1], [1, 0], 1]);
    // Casts the same vote again, on the current revision.
    await voter.votes(id, 'up');
    expect(await counts()).toEqual([[2, 1], [0, 1], [2, 0], 1]);
    await second.votes(id, 'up');
    expect(await counts()).toEqual([[3, 0], [0, 0], [3, 0], 3]);
    await author.edits(id, { rating: 1 });
    await third.withdrawsVote(id);
    expect(await counts()).toEqual([[2, 0], [0, 0], [2, 0], [0, 0], 2]);
    expect(await spent()).toBe(1);
    expect(await spent(second)).toBe(1);
  });

  // The lowest karma of each type and the highest below it, with the votes a day.
  test.each([
    [-1_000_000, 'Noob', 10],
    [-1, 'Noob', 10],
    [49, 'Noob', 10],
    [50, 'Apprentice', 50],
    [999, 'Apprentice', 50],
    [1000, 'Sorcerer', 200],
    [123_456, 'Sorcerer', 200],
  ])('lets karma %i (%s) vote %i times a day', async (karma, type, limit) => {
    voter = await makeUser({ karma });
    const own = await voter.publishes();
    expect((await visitor.sees(own)).user.user_type).toBe(type);
    await voter.votes(id);
    await setAttributes(dailyVotesKey(voter.id, today()), { count: limit - 1 });
    await voter.votes(await author.publishes());
    const last = await author.publishes();
    const { status, body } = await voter.triesToVote(last, { vote: true });
    expect(status).toBe(403);
    expect(body.error).toBe('limit_exceeded');
    expect(body.description).toContain(`${limit} reviews a day`);
    expect(await readItem(voteKey(last, voter.id))).toBeUndefined();
    expect(await readItem(reviewKey(last))).toMatchObject({ popularity: 0 });
    expect(await spent()).toBe(limit);
    // An earlier vote can be changed at the limit. A withdrawn vote is not given back.
    expect(await voter.triesToVote(id, { vote: false })).toHaveStatus(200);
    expect(await voter.withdrawsVote(id)).toHaveStatus(200);
    expect(await voter.triesToVote(id, { vote: true })).toHaveStatus(403);
  });

  test('returns what is left of the daily limit, and its reset time', async () => {
    stopClock(Date.parse('2026-11-20T22:59:58.400Z'));
    const told = async (body: object, review_id = id) => {
      const { status, headers } = await voter.triesToVote(review_id, body);
      expect(headers['access-control-expose-headers']?.split(', ')).toEqual(
        expect.arrayContaining(['RateLimit', 'RateLimit-Policy', 'Retry-After']),
      );
      const { 'ratelimit-policy': policy, ratelimit, 'retry-after': wait } = headers;
      return [status, policy, ratelimit, wait];
    };
    const policy = '"votes";q=10;w=86400';
    expect(await told({ vote: true })).toEqual([200, policy, '"votes";r=9;t=3602', undefined]);
    // Repeating or changing the vote costs none.
    for (const vote of [true, false]) {
      expect(await told({ vote })).toEqual([200, policy, '"votes";r=9;t=3602', undefined]);
    }
    const ids = await Promise.all((await makeUsers(10)).map((user) => user.publishes()));
    for (const [i, review_id] of ids.slice(0, 9).entries()) {
      const left = `"votes";r=${8 - i};t=3602`;
      expect(await told({ vote: true }, review_id)).toEqual([200, policy, left, undefined]);
    }
    expect(await told({ vote: true }, ids[9])).toEqual([403, policy, '"votes";r=0;t=3602', '3602']);
    stopClock(Date.parse('2026-11-20T23:59:59.999Z'));
    expect((await told({ vote: true }, ids[9])).at(-1)).toBe('1');
    stopClock(Date.parse('2026-11-21T00:00:00.000Z'));
    const renewed = '"votes";r=9;t=86400';
    expect(await told({ vote: true }, ids[9])).toEqual([200, policy, renewed, undefined]);
  });

  test('lets a user change a vote whatever the karma is by then', async () => {
    await voter.votes(id);
    await setAttributes(userKey(voter.id), { karma: -100 });
    expect(await voter.triesToVote(id, { vote: false })).toHaveStatus(200);
    expect(await voter.withdrawsVote(id)).toHaveStatus(200);
  });

  test('does not count votes of yesterday', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await setAttributes(dailyVotesKey(voter.id, yesterday), { count: 10 });
    expect(await voter.triesToVote(id, { vote: true })).toHaveStatus(200);
  });

  test('leaves the deleted counter of a day over a month ago deleted', async () => {
    const past = new Date(Date.now() - 40 * 86_400_000).toISOString();
    const castThen = async () => {
      await voter.votes(id);
      await setAttributes(voteKey(id, voter.id), { voted_at: past });
    };
    await castThen();
    expect(await voter.triesToVote(id, { vote: false })).toHaveStatus(200);
    await castThen();
    expect(await voter.withdrawsVote(id)).toHaveStatus(200);
    expect(await readItem(dailyVotesKey(voter.id, past.slice(0, 10)))).toBeUndefined();
  });
});

test('a vote is withdrawn from a review that has lost its text', async () => {
  await voter.votes(id);
  await author.edits(id, { text: null });
  expect(await voter.withdrawsVote(id)).toHaveStatus(200);
  expect(await counts()).toEqual([[0, 0], [0, 0], [0, 0], 0]);
});

test.each([
  ['PUT', () => voter.triesToVote(id, { vote: false })],
  ['PUT of the same vote', () => voter.triesToVote(id, { vote: true })],
  ['GET', () => voter.readsVote(id)],
  ['DELETE', () => voter.withdrawsVote(id)],
])('%s …/vote returns 404 for a review of an account being deleted', async (_, act) => {
  await voter.votes(id);
  await beginErasure(author);
  expect(await act()).toMatchObject({ status: 404, body: { description: 'Review not found' } });
});
