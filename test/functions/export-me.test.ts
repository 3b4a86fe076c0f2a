import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/export-me.ts';
import { sealCursor } from '../../shared/base/list/cursor.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { createPersonalToken } from '../../shared/core/oauth/personal-token-repository.ts';
import { appeal, setHidden } from '../../shared/core/report/decision-repository.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';
import { readOwnData } from '../../shared/features/account/export.ts';
import type { OwnData } from '../../shared/features/account/presented.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { scanTable, setAttributes } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import {
  idsOf,
  makeGrant,
  makeUser,
  makeUsers,
  type Person,
  signIn,
  text,
} from '../helpers/world.ts';

process.env.SIGNING_KEYS ??= 'aB3'.repeat(22).slice(0, 64);

const profile = { display_name: 'Vic', email: 'vic@example.com', musicdb_username: 'vic-m' };

/** Returns all parts, joined as the description says. Calls `between` after each part. */
async function walk(
  userId: string,
  maxBytes?: number,
  between: () => Promise<unknown> = async () => {},
) {
  const parts = [];
  let cursor: string | undefined;
  do {
    const part = await readOwnData(userId, cursor, maxBytes);
    parts.push(part);
    cursor = part.next;
    if (cursor !== undefined) await between();
  } while (cursor !== undefined);
  return { whole: joined(parts), parts };
}

function joined(parts: readonly OwnData[]) {
  const reviews = new Map<string, OwnData['reviews'][number]>();
  for (const review of parts.flatMap((part) => part.reviews)) {
    const revisions = [...(reviews.get(review.id)?.revisions ?? []), ...review.revisions];
    reviews.set(review.id, { ...review, revisions });
  }
  const { next: _, ...first } = parts[0] as OwnData;
  return {
    ...first,
    connections: parts.flatMap((part) => part.connections),
    reviews: [...reviews.values()],
    hidden_and_deleted: parts.flatMap((part) => part.hidden_and_deleted),
    decisions: parts.flatMap((part) => part.decisions),
    votes: parts.flatMap((part) => part.votes),
    reports: parts.flatMap((part) => part.reports),
  };
}

describe('GET /user/me/export', () => {
  let user: Person;
  let friend: Person;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    user = await signIn(profile);
    friend = await makeUser({ display_name: 'Fred' });
    ids.edited = await user.publishes({ text: `First. ${text}` });
    ids.draft = await user.publishes({ is_draft: true });
    ids.hidden = await user.publishes();
    await friend.votes(ids.edited, 'down');
    await user.edits(ids.edited, { text: `Second. ${text}` });
    await friend.votes(ids.edited);
    await setHidden(ids.hidden, true, { reason: 'spam', note: 'An advertisement.' });
    await appeal(ids.hidden, user.id, 'I have paid for it myself.');
    ids.liked = await friend.publishes({ text: `By a friend. ${text}` });
    await user.votes(ids.liked);
    await user.reports(ids.liked, { reason: 'Too nice' });
    await friend.reports(ids.edited, { reason: 'Of somebody else' });
    await makeGrant(user, ['vote'], { owner: friend });
    await makeGrant(user, ['review']);
    await createPersonalToken({ user_id: user.id, name: 'Script', scopes: ['user'], days: 7 });
  });

  test('returns everything stored about a person', async () => {
    const { status, headers, body } = await user.exports();
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.link).toBeUndefined();
    const identity = expect.stringMatching(/^[\da-f]{64}$/);
    const { id, created } = user;
    expect(body.profile).toMatchObject({ id, created, ...profile, identity });
    const reviews = new Map(body.reviews.map((each: { id: string }) => [each.id, each]));
    expect([...reviews.keys()].toSorted()).toEqual([ids.edited, ids.draft, ids.hidden].toSorted());
    expect(reviews.get(ids.edited)).toMatchObject({
      popularity: 1,
      is_hidden: false,
      revisions: [
        { id: 1, text: `First. ${text}`, votes_positive: 0, votes_negative: 0 },
        { id: 2, text: `Second. ${text}`, votes_positive: 1, votes_negative: 0 },
      ],
    });
    expect(reviews.get(ids.draft)).toMatchObject({ published_on: null, revisions: [{ id: 1 }] });
    const decision = { decision: 'hide', reason: 'spam', note: 'An advertisement.' };
    expect(reviews.get(ids.hidden)).toMatchObject({
      is_hidden: true,
      moderation: decision,
      appealed_at: expect.any(String),
      appeal: 'I have paid for it myself.',
    });
    expect(body.decisions).toEqual([
      { review_id: ids.hidden, ...decision, decided_at: expect.any(String) },
    ]);
    expect(body.votes).toEqual([
      {
        review_id: ids.liked,
        vote: true,
        voted_at: expect.any(String),
        revision: 1,
        entity: null,
      },
    ]);
    expect(body.reports).toEqual([
      { review_id: ids.liked, reason: 'Too nice', reported_at: expect.any(String) },
    ]);
    expect(body.votes_by_day).toEqual([
      {
        day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        first_votes: 1,
        votes: 1,
        reports: 1,
        publications: 3,
        edits: 1,
        names: 0,
        renames: 0,
      },
    ]);
    expect(body.applications).toEqual([expect.objectContaining({ name: 'Demo' })]);
    const connections = body.connections.map(({ scopes }: { scopes: string[] }) => scopes);
    expect(connections.toSorted()).toEqual([['review'], ['vote']]);
    const script = expect.objectContaining({ name: 'Script', scopes: ['user'] });
    expect(body.personal_tokens).toEqual([script]);
    expect(body).not.toHaveProperty('next');
  });

  test('returns no secret, and nothing of other people', async () => {
    const { body } = await user.exports();
    const given = JSON.stringify(body);
    const secrets = (await scanTable()).flatMap(({ grant_id, secret_id }) => [grant_id, secret_id]);
    const known = secrets.filter((secret) => typeof secret === 'string');
    expect(known.length).toBeGreaterThan(4);
    for (const secret of known) expect(given).not.toContain(secret);
    for (const others of [friend.id, 'Fred', 'By a friend', 'Of somebody else']) {
      expect(given).not.toContain(others);
    }
  });

  test('names every item that belongs to this person', async () => {
    const given = JSON.stringify((await user.exports()).body);
    const own = (await scanTable()).filter(
      ({ pk, sk, user_id, author }) =>
        !/^(PROJECTION|COUNTS|CODE|IDEMPOTENCY)$/.test(sk) &&
        [pk, sk, user_id, author].some((value) => `${value}`.includes(user.id)),
    );
    const kinds = new Set(own.map(({ sk }) => sk.split('#')[0]));
    const expected = 'APP CASE CLAIM CONTACT DECISION GRANT IDENTITY REPORT REVIEW USER VOTE VOTES';
    expect([...kinds].toSorted().join(' ')).toBe(expected);
    for (const item of own) {
      const { sk, pk, voted_at, reported_at, decided_at, identity, entity_id, created } = item;
      const told = voted_at || reported_at || decided_at || identity || entity_id || created;
      expect(given).toContain(told ?? (sk.split('#')[1] || pk.split('#')[1]));
    }
  });

  test('omits a deleted review that is still being erased', async () => {
    const author = await makeUser();
    const kept = await author.publishes();
    const gone = await author.publishes();
    // The state after a deletion that votes kept from finishing.
    await setAttributes(reviewKey(gone), { is_hidden: true, deleted_at: new Date().toISOString() });
    const { body } = await author.exports();
    expect(idsOf(body.reviews)).toEqual([kept]);
  });

  test('returns 401 for a deleted account', async () => {
    const caller = { ...user.caller, user_id: randomUUID() };
    expect(await invoke(handler, { caller })).toHaveStatus(401);
  });

  test('refuses a cursor of another person', async () => {
    const other = await makeUser();
    for (let i = 0; i < 3; i++) await other.publishes();
    const { next = '' } = await readOwnData(other.id, undefined, 100);
    expect(await other.exports({ cursor: next })).toHaveStatus(200);
    for (const cursor of [next, `${next}A`, 'x', '']) {
      expect(await user.exports({ cursor })).toMatchObject(invalid(/^cursor must be/));
    }
  });

  test.each([
    ['after the end of a list', '\u{10ffff}\u{10ffff}'],
    ['invalid Unicode', '\ud800'],
    ['longer than a key', 'x'.repeat(2_000)],
    ['nothing', ''],
  ])('refuses a forged cursor: %s', async (_, place) => {
    const lists = 'connections reviews hidden_and_deleted decisions votes reports';
    for (const list of lists.split(' ')) {
      const cursor = sealCursor(`export ${user.id}`, [list, place]);
      expect(await user.exports({ cursor })).toHaveStatus(400);
    }
  });

  test('returns the same in parts of any size, including a review with many revisions', async () => {
    const [many, ...voters] = await makeUsers(4);
    for (let i = 0; i < 4; i++) {
      const review_id = await many.publishes();
      for (let rating = 1; rating <= 2 * i; rating++) {
        await many.edits(review_id, { rating: 1 + (rating % 5), text: `${rating} ${text}` });
      }
      for (const voter of voters) await voter.votes(review_id, i % 2 === 0 ? 'up' : 'down');
    }
    for (let i = 0; i < 4; i++) await many.publishesHidden();
    for (let i = 0; i < 2; i++) await deleteReview(await many.publishesHidden(), many.id);
    for (const voter of voters) {
      const review_id = await voter.publishes();
      await many.votes(review_id);
      await many.reports(review_id);
      await makeGrant(many, ['vote'], { owner: voter });
    }
    const { whole } = await walk(many.id);
    const revisions = whole.reviews.map((each) => each.revisions.length);
    expect(revisions.toSorted()).toEqual([1, 1, 1, 1, 1, 3, 5, 7]);
    expect(whole.decisions).toHaveLength(6);
    expect(whole.hidden_and_deleted).toHaveLength(2);
    expect(whole.votes.length).toBe(3);
    expect(whole.reports.length).toBe(3);
    expect(whole.connections.length).toBe(3);
    for (const maxBytes of [0, 1_500, 3_000, 6_000]) {
      const { whole: sum, parts } = await walk(many.id, maxBytes);
      expect(sum).toEqual(whole);
      expect(parts.length).toBeGreaterThan(1);
    }
    expect((await walk(many.id, 0)).parts).toHaveLength(3 + 1 + 3 + 5 + 7 + 4 + 2 + 6 + 3 + 3);
  });

  test('neither loses nor repeats lasting items while others are written and deleted', async () => {
    const [writer, other] = await makeUsers(2);
    const kept = [];
    const gone: string[] = [];
    for (let i = 0; i < 10; i++) {
      kept.push(await writer.publishes());
      gone.push(await writer.publishes());
    }
    const liked: string[] = [];
    for (let i = 0; i < 5; i++) liked.push(await other.publishes());
    for (const id of liked) await writer.votes(id);
    let rounds = 0;
    const { parts } = await walk(writer.id, 0, async () => {
      const id = gone.pop();
      if (id) await deleteReview(id, writer.id);
      if (rounds < 15) await writer.publishes();
      // The vote moves to the end, which the walk has not reached yet.
      const [again = '', ...rest] = liked;
      if (rounds < 15) {
        await writer.votes(again, rounds % 2 === 0 ? 'up' : 'down');
        liked.splice(0, 5, ...rest, again);
      }
      rounds++;
    });
    const seen = parts.flatMap((part) => part.reviews.map(({ id }) => id));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(kept));
    const votes = new Set(parts.flatMap((part) => part.votes.map(({ review_id }) => review_id)));
    expect(votes).toEqual(new Set(liked));
  });

  test('returns a revision once if it is made while its review is read', async () => {
    const writer = await makeUser();
    const review_id = await writer.publishes();
    await writer.edits(review_id, { rating: 1 });
    const spy = beforeSend(async ({ input }) => {
      if (!`${input.ExpressionAttributeValues?.[':from']}`.startsWith('REVISION#')) return;
      spy.mockRestore();
      await writer.edits(review_id, { rating: 2 });
    });
    const { reviews } = await readOwnData(writer.id);
    const [first, second, ...more] = reviews[0]?.revisions ?? [];
    expect(first?.rating).toBe(4);
    expect(second?.rating).toBe(1);
    expect(more).toEqual([]);
    expect(first?.id).toBe(1);
    expect(second?.id).toBe(2);
  });
});
