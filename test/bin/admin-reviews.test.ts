import { randomUUID } from 'node:crypto';
import { handler as reportReview } from '../../functions/api/report-review.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { applicationKey, reviewKey, userKey } from '../../shared/core/keys.ts';
import { refuses, run } from '../helpers/admin.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { differences } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeGrant, makeUser, makeUsers, type Person } from '../helpers/world.ts';

describe('npm run admin: reviews and decisions', () => {
  test('dismisses the reports of a review, so that nobody files them again', async () => {
    const [author, ...readers] = await makeUsers(3);
    const id = await author.publishes();
    const other = await author.publishes();
    const report = ({ caller }: Person, review_id: string) =>
      invoke(reportReview, { caller, path: { review_id }, body: {} });
    const listed = async () =>
      (await run('report', 'list')).reports.map(
        (one: { review_id: string; user_id: string }) => `${one.review_id} ${one.user_id}`,
      );
    const of = (review_id: string) => readers.map((reader) => `${review_id} ${reader.id}`);
    for (const reader of readers) {
      await report(reader, id);
      await report(reader, other);
    }
    expect(await listed()).toEqual([...of(id), ...of(other)]);
    const why = ['--reason', 'spam', '--note', 'A quotation'];
    expect(await run('report', 'dismiss', id, ...why)).toEqual({ id, dismissed: 2 });
    expect(await listed()).toEqual(of(other));
    for (const reader of readers) expect(await report(reader, id)).toHaveStatus(200);
    expect(await listed()).toEqual(of(other));
    const none = 'Error: There is nothing to decide on this review\n';
    await refuses(1, [[['report', 'dismiss', id], none]]);
    await run('report', 'dismiss', other);
    const { decisions } = await run('decision', 'list');
    const made = { id: expect.any(String), decided_at: expect.any(String), moderator_id: null };
    const dismissed = { ...made, user_id: author.id, decision: 'dismiss', reports: 2 };
    expect(decisions.slice(0, 2)).toEqual([
      { ...dismissed, review_id: other, reason: 'other', note: '' },
      { ...dismissed, review_id: id, reason: 'spam', note: 'A quotation' },
    ]);
    const invalid =
      /^error: option '--reason <reason>' argument 'x' is invalid\. It must be one of spam, abuse, off_topic, copyright, other\.\n/;
    await refuses(2, [[['report', 'dismiss', id, '--reason', 'x'], invalid]]);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('makes moderators, and blocks accounts with a reason', async () => {
    const [user, reader] = await makeUsers(2);
    const state = async () => {
      const { is_moderator, blocked_at, user_type } = await run('user', 'show', user.id);
      return [is_moderator, blocked_at, user_type];
    };
    expect(await run('user', 'promote', user.id)).toEqual({ id: user.id, is_moderator: true });
    expect(await state()).toEqual([true, null, 'Noob']);
    expect(await run('user', 'demote', user.id)).toEqual({ id: user.id, is_moderator: false });
    const block = ['user', 'block', user.id, '--reason', 'abuse', '--note', 'Again.'];
    expect(await run(...block)).toEqual({ id: user.id, is_blocked: true });
    expect(await state()).toEqual([false, expect.stringMatching(/^\d{4}-.*Z$/), 'Blocked']);
    // The same again, as after a lost answer, is done already.
    expect(await run(...block)).toEqual({ id: user.id, is_blocked: true });
    await refuses(1, [
      [['user', 'block', user.id, '--reason', 'spam'], 'Error: This account is blocked already\n'],
      [['user', 'promote', user.id], /^Error: A moderator has blocked this account: .+\n$/],
      [['user', 'unblock', reader.id], 'Error: This account is not blocked\n'],
      [['user', 'promote', randomUUID()], 'Error: User not found\n'],
    ]);
    await run('user', 'unblock', user.id);
    expect(await state()).toEqual([false, null, 'Noob']);
    const { decisions } = await run('decision', 'list');
    expect(decisions.slice(0, 2)).toMatchObject([
      { decision: 'unblock', user_id: user.id, reason: 'other', review_id: null },
      { decision: 'block', user_id: user.id, reason: 'abuse', note: 'Again.' },
    ]);
  });

  test('hides and unhides a review, lists reports, and rebuilds the totals', async () => {
    const author = await makeUser();
    const reader = await makeUser();
    const id = await author.publishes();
    const reason = 'Ünïcode';
    const { caller } = reader;
    await invoke(reportReview, { caller, path: { review_id: id }, body: { reason } });
    const reported = { review_id: id, user_id: reader.id, reason, reported_at: expect.any(String) };
    expect(await run('report', 'list')).toEqual({ reports: [reported] });
    for (const verb of ['hide', 'hide', 'unhide']) {
      const is_hidden = verb === 'hide';
      expect(await run('review', verb, id)).toEqual({ id, is_hidden });
      expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden });
    }
    const items = await scanTable();
    const { users, reviews } = await run('aggregates', 'rebuild');
    expect(users).toBe(items.filter(({ sk, all }) => sk === 'USER' && all).length);
    expect(reviews).toBe(items.filter(({ sk, all }) => sk === 'REVIEW' && all).length);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('allows a review in place of a hidden one that its author has deleted', async () => {
    const author = await makeUser();
    const entity_id = randomUUID();
    const review_id = await author.publishes({ entity_id });
    await run('review', 'hide', review_id);
    await author.deletes(review_id);
    const marked = { entity_id, entity_type: 'release_group', marked_at: expect.any(String) };
    const hidden = async () => (await run('user', 'show', author.id)).hidden_and_deleted;
    expect(await hidden()).toEqual([{ ...marked, review_id }]);
    const allow = ['review', 'allow', author.id, entity_id];
    expect(await run(...allow)).toEqual({ user_id: author.id, entity_id, is_allowed: true });
    expect(await hidden()).toEqual([]);
    await author.publishes({ entity_id });
    await refuses(1, [[allow, /deleted no hidden review/]]);
  });

  test('erases what deleted accounts, reviews and applications have left behind', async () => {
    const nothing = { users: 0, reviews: 0, applications: 0, entities: 0, hiding: 0 };
    await applyStream();
    const friend = await makeUser();
    const foe = await makeUser();
    const kept = await friend.publishes();

    /** A deleted account, review and application, each with leftovers. */
    async function leave() {
      const leaver = await makeUser();
      await leaver.publishes();
      await leaver.votes(kept);
      const { grant } = await makeGrant(friend, ['vote'], { owner: foe });
      await leaver.leaves();
      const review_id = await foe.publishes();
      await friend.votes(review_id);
      await foe.deletes(review_id);
      const Key = applicationKey(grant.client_id);
      await batchWrite([{ delete: Key }]);
      const owner = await readItem(userKey(foe.id));
      await setAttributes(userKey(foe.id), { applications: Number(owner?.applications) - 1 });
      return { user: leaver.id, review: review_id, application: grant.client_id };
    }
    const one = await leave();
    const first = ['erase', '--user', one.user];
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run('erase', '--review', one.review)).toEqual({ ...nothing, reviews: 1 });
    const last = await run('erase', '--application', one.application);
    expect(last).toEqual({ ...nothing, applications: 1 });
    const two = await leave();
    const all = await run('erase');
    expect(all).toEqual({ users: 1, reviews: 1, applications: 1, entities: 3, hiding: 0 });
    await applyStream();
    expect(await run('erase')).toEqual(nothing);

    const ids = [one, two].flatMap((deleted) => Object.values(deleted));
    const left = (await scanTable()).filter(
      ({ pk, sk }) => sk !== 'PROJECTION' && ids.some((id) => pk.includes(id) || sk.includes(id)),
    );
    expect(left).toEqual([]);
    expect(await readItem(reviewKey(kept))).toMatchObject({ votes_positive: 0 });
    await applyStream();
    expect(await differences()).toEqual([]);
  });
});
