import { randomUUID } from 'node:crypto';

import { handler } from '../../functions/api/list-changes.ts';
import { batchDelete, batchWrite } from '../../shared/base/table/batch.ts';
import type { Item } from '../../shared/base/table/item.ts';
import { reviewKey, revisionKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { updateProfile } from '../../shared/core/user/name-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { beginEpoch, logChanges } from '../../shared/features/changes/log.ts';
import { restore, stopClock } from '../helpers/clock.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { scanTable, setAttributes, storeItems } from '../helpers/items.ts';
import { ask, feed, follow, position, records } from '../helpers/list-changes.ts';
import { afterSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, text } from '../helpers/world.ts';

describe('GET /changes', () => {
  test('without a position returns only the current position', async () => {
    await (await makeUser()).publishes();
    await applyStream();
    const { status, headers, body } = await ask();
    expect(status).toBe(200);
    expect(body.changes).toEqual([]);
    expect(body.has_more).toBe(false);
    expect((await follow(body.next)).told).toEqual([]);
    // A client that asks again while nothing is new need not receive a change.
    const first = await ask({ since: body.next });
    expect(first.body.next).toBe(body.next);
    expect(headers['cache-control']).toBe('public, no-cache, stale-if-error=0');
    const known = { 'if-none-match': first.headers.etag ?? '' };
    const again = await invoke(handler, { query: { since: body.next }, headers: known });
    expect(again).toHaveStatus(304);
  });

  test('without a position has the same answer for an hour, until something is logged', async () => {
    stopClock(Date.parse('2026-11-24T12:05:00.000Z'));
    const { headers, body } = await ask();
    stopClock(Date.parse('2026-11-24T12:55:00.000Z'));
    const known = { 'if-none-match': headers.etag ?? '' };
    expect(await invoke(handler, { headers: known })).toHaveStatus(304);
    restore();
    await (await makeUser()).publishes();
    await applyStream();
    expect((await ask()).body.next).not.toBe(body.next);
    expect((await follow(body.next)).told).toHaveLength(1);
  });

  test('reports publications, edits, votes, hidings, restorations and deletions', async () => {
    const [author, voter] = await makeUsers(2);
    let since = await position();
    const versions: number[] = [];
    const next = async () => {
      await applyStream();
      const answer = await follow(since);
      since = answer.next;
      versions.push(...answer.told.map(({ version }) => version));
      return answer.told;
    };
    const review_id = await author.publishes({ text: `One. ${text}`, rating: 4 });
    const [published, ...more] = await next();
    expect(more).toEqual([]);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const votes = { votes_positive: 0, votes_negative: 0 };
    expect(published).toEqual({
      kind: 'review',
      subject: { type: 'review', id: review_id },
      id: review_id,
      version: expect.any(Number),
      review: {
        kind: 'review',
        id: review_id,
        entity_id: expect.any(String),
        entity_type: 'release_group',
        user_id: author.id,
        language: 'en',
        license: 'CC BY-SA 3.0',
        created: expect.any(String),
        published_on: expect.any(String),
        source: null,
        source_url: null,
        revisions: [{ id: 1, text: `One. ${text}`, rating: 4, timestamp, ...votes }],
      },
    });

    await voter.votes(review_id);
    expect(await next()).toMatchObject([
      { id: review_id, review: { revisions: [{ votes_positive: 1 }] } },
    ]);
    await author.edits(review_id, { text: `Two. ${text}` });
    const revisions = [
      { id: 1, text: `One. ${text}`, votes_positive: 1 },
      { id: 2, text: `Two. ${text}`, rating: 4, votes_positive: 0 },
    ];
    expect(await next()).toMatchObject([{ review: { revisions } }]);
    await voter.withdrawsVote(review_id);
    const unvoted = { revisions: [{ votes_positive: 0 }, {}] };
    expect(await next()).toMatchObject([{ review: unvoted }]);
    await setHidden(review_id, true);
    expect(await next()).toMatchObject([{ id: review_id, review: null }]);
    await author.edits(review_id, { rating: 1 });
    expect(await next()).toEqual([]);
    await setHidden(review_id, false);
    const restored = { revisions: [{}, {}, { rating: 1 }] };
    expect(await next()).toMatchObject([{ review: restored }]);
    await author.deletes(review_id);
    expect(await next()).toMatchObject([{ id: review_id, review: null }]);
    // Every change has a higher version than those before it.
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
    expect(await next()).toEqual([]);
  });

  test('omits drafts until they are published', async () => {
    const author = await makeUser();
    const since = await position();
    const kept = await author.publishes({ is_draft: true });
    const gone = await author.publishes({ is_draft: true });
    await author.edits(kept, { rating: 1 });
    await author.deletes(gone);
    await applyStream();
    expect(await follow(since)).toMatchObject({ told: [], next: since });
    await author.edits(kept, { is_draft: false });
    await applyStream();
    expect((await follow(since)).told).toMatchObject([{ id: kept }]);
  });

  test('omits a deleted account, then reports its reviews as deleted', async () => {
    const author = await makeUser();
    const since = await position();
    const id = await author.publishes();
    await feed(await records());
    await author.leaves();
    expect((await ask({ since })).body).toMatchObject({ changes: [], users: [] });
    // The eraser has not received the records that this test reads.
    await author.triesToLeave();
    const { eraseAccount } = await import('../../shared/features/account/erase-account.ts');
    await eraseAccount(author.id);
    await applyStream();
    expect((await follow(since)).told).toMatchObject([{ id, review: null }]);
  });

  test('names the authors on the page, with current name and karma', async () => {
    const [ann, bob, voter] = await makeUsers(3);
    let since = await position();
    const next = async () => {
      await applyStream();
      const { body } = await ask({ since });
      since = body.next;
      return body;
    };
    const id = await ann.publishes();
    await ann.publishes();
    await bob.publishes();
    await voter.votes(id);
    const { changes, users } = await next();
    expect(changes).toHaveLength(3);
    // No email address is included.
    const known = [
      { id: ann.id, display_name: ann.display_name, karma: 1 },
      { id: bob.id, display_name: bob.display_name, karma: 0 },
    ];
    expect(new Set(users)).toEqual(new Set(known));
    await updateProfile(ann.id, { display_name: 'Anne' });
    expect(await next()).toMatchObject({ changes: [], users: [] });
    await voter.votes(id, 'down');
    expect((await next()).users).toEqual([{ id: ann.id, display_name: 'Anne', karma: -1 }]);
    await ann.deletes(id);
    expect(await next()).toMatchObject({ changes: [{ id, review: null }], users: [] });
    expect((await ask()).body.users).toEqual([]);
  });

  test('reports a changed review in its current state, with any page size', async () => {
    const [author, ...voters] = await makeUsers(6);
    const since = await position();
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push(await author.publishes());
    for (const voter of voters) {
      for (const id of ids.slice(0, 8)) await voter.votes(id);
      // Logs each change separately.
      await applyStream();
      await author.edits(ids[9] ?? '', { rating: 1 + voters.indexOf(voter) });
    }
    await applyStream();
    // A page reports each review once.
    const whole = await follow(since);
    expect(whole.told.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const limit of [1, 2, 5, 11]) {
      const { told, next } = await follow(since, limit);
      for (const { id, version, review } of told) {
        const known = whole.told.find((each) => each.id === id);
        expect(review).toEqual(known?.review);
        expect(version).toBeLessThanOrEqual(known?.version ?? 0);
      }
      expect(told).toEqual(expect.arrayContaining(whole.told));
      expect((await follow(next)).told).toEqual([]);
    }
  });

  test('reports the current state, however the stream repeats or batches records', async () => {
    const [author, voter] = await makeUsers(2);
    const since = await position();
    const ids = [];
    for (let i = 0; i < 6; i++) ids.push(await author.publishes());
    for (const id of ids) await author.edits(id, { rating: 1 });
    for (const id of ids.slice(0, 3)) await voter.votes(id);
    await setHidden(ids[5] ?? '', true);
    const all = await records();
    await Promise.all([feed(all), feed(all.slice(0, 5)), feed(all)]);
    const first = (await follow(since)).told;
    expect(first.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(first.filter(({ review }) => review === null).map(({ id }) => id)).toEqual([ids[5]]);
    await feed(all);
    for (const record of all) await feed([record]);
    for (const record of all.toReversed()) await feed([record]);
    for (const { told } of [await follow(since), await follow(since, 2)]) {
      expect(new Set(told.map(({ id }) => id))).toEqual(new Set(ids));
      // A repetition says again how it is now, with a higher version.
      for (const { id, review } of told) {
        expect(review).toEqual(first.find((each) => each.id === id)?.review);
      }
      for (const { id, version } of first) {
        const last = told.findLast((each) => each.id === id);
        expect(last?.version).toBeGreaterThan(version);
      }
    }
  });

  test('accepts a position newer than the log it reads, for a minute', async () => {
    const since = await position();
    const author = await makeUser();
    const id = await author.publishes();
    const early = (await scanTable()).filter(({ pk }) => pk === 'CHANGES');
    await applyStream();
    const { told, next } = await follow(since);
    expect(told).toMatchObject([{ id }]);
    // The two halves of the transaction become readable one after the other. The reader asks again
    // in between.
    afterSend((_, answer) => {
      const isHead = answer.Items?.some(({ pk }) => pk === 'CHANGES');
      return isHead ? { ...answer, Items: early } : answer;
    });
    const between = await ask({ since: next });
    expect(between).toHaveStatus(200);
    expect(between.body.changes).toEqual([]);
    // A minute later the transaction can no longer be in progress.
    stopClock(Date.now() + 61_000);
    expect(await ask({ since: next })).toHaveStatus(410);
    jest.restoreAllMocks();
    jest.useRealTimers();
    await author.edits(id, { rating: 1 });
    await applyStream();
    expect((await follow(between.body.next)).told).toMatchObject([{ id }]);
  });

  test('reports constant changes at once, with versions that only rise', async () => {
    const [author, ...voters] = await makeUsers(12);
    let since = await position();
    const { length } = since;
    const id = await author.publishes();
    const versions = [];
    // The log is always one vote behind.
    let due = await records();
    for (const voter of voters) {
      await voter.votes(id);
      await feed(due);
      due = await records();
      const { told, next } = await follow(since);
      versions.push(...told.map(({ version }) => version));
      since = next;
    }
    await feed(due);
    const { told, next } = await follow(since);
    versions.push(...told.map(({ version }) => version));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(versions.length).toBe(12);
    expect((await follow(next)).told).toEqual([]);
    expect(next.length).toBeLessThan(length + 80);
  });

  test('reports all changes logged in one lane in one millisecond', async () => {
    const since = await position();
    stopClock(Date.now());
    const ids = Array.from({ length: 45 }, () => randomUUID().replace(/^.{8}/, '00000008'));
    const changes = ids.map((id) => ({ id, version: 2, kind: 'removed' as const }));
    await logChanges(changes.slice(0, 41));
    await logChanges(changes.slice(41));
    for (const limit of [7, 100]) {
      const { told } = await follow(since, limit);
      expect(told.map(({ id }) => id)).toEqual(ids);
    }
  });

  test('accepts a position for 30 days, then says to start again', async () => {
    const author = await makeUser();
    const since = await position();
    await author.publishes();
    await applyStream();
    const now = Date.now();
    stopClock(now + 29.9 * 86_400_000);
    // Deletes expired items, as DynamoDB does.
    const isExpired = (item: Item) => Number(item.expires_at) <= Date.now() / 1000;
    await batchDelete((await scanTable()).filter(isExpired));
    const { told, next } = await follow(since);
    expect(told).toHaveLength(1);
    stopClock(now + 30.1 * 86_400_000);
    const body = {
      error: 'gone',
      description: expect.stringContaining('delete your copy, and start again'),
    };
    expect(await ask({ since })).toMatchObject({ status: 410, body });
    // A client that keeps asking keeps a valid position, even if nothing happens for long.
    let kept = next;
    for (let days = 30; days < 100; days += 20) {
      stopClock(now + days * 86_400_000);
      kept = (await follow(kept)).next;
    }
    expect((await follow(kept)).told).toEqual([]);
  });

  test('says to start again if the changes after a position have expired', async () => {
    const author = await makeUser();
    const since = await position();
    const ids = [await author.publishes()];
    const lane = (id = '') => Number.parseInt(id.slice(0, 8), 16) % 8;
    do ids.push(await author.publishes());
    while (lane(ids.at(-1)) === lane(ids[0]));
    await applyStream();
    const now = Date.now();
    stopClock(now + 29 * 86_400_000);
    // The position of the first page is new, although some lanes were not read for long.
    const { body } = await ask({ since, limit: '1' });
    expect(body.has_more).toBe(true);
    stopClock(now + 40 * 86_400_000);
    const log = (await scanTable()).filter(({ pk }) => pk.startsWith('CHANGES#'));
    await batchDelete(log);
    expect(await ask({ since: body.next })).toHaveStatus(410);
    expect((await ask({ since: (await ask()).body.next })).body.changes).toEqual([]);
    await storeItems(log);
  });

  test('says to start again once another epoch has begun', async () => {
    const author = await makeUser();
    const before = await position();
    await author.publishes();
    await applyStream();
    const { next } = await follow(before);
    await beginEpoch();
    for (const since of [before, next]) expect(await ask({ since })).toHaveStatus(410);
    const since = (await ask()).body.next;
    const id = await author.publishes();
    await applyStream();
    expect((await follow(since)).told).toMatchObject([{ id }]);
  });

  test('skips a review that this code cannot read, and goes on', async () => {
    silence('error');
    const author = await makeUser();
    const since = await position();
    const ids = [await author.publishes(), await author.publishes(), await author.publishes()];
    await author.edits(ids[1] ?? '', { rating: 1 });
    await applyStream();
    await setAttributes(reviewKey(ids[0] ?? ''), { rating: { of: 'newer code' } });
    await setAttributes(revisionKey(ids[1] ?? '', 1), { votes_positive: 'newer code' });
    const { told } = await follow(since);
    expect(told.map(({ id }) => id).toSorted()).toEqual(ids.slice(1).toSorted());
    const edited = told.find(({ id }) => id === ids[1]);
    expect(edited?.review?.revisions.map(({ id }) => id)).toEqual([2]);
  });

  describe('in a table that was restored to an earlier time', () => {
    const lanes = async () =>
      (await scanTable()).filter(({ pk }) => pk === 'CHANGES' || pk.startsWith('CHANGES#'));

    async function restore(items: Awaited<ReturnType<typeof lanes>>) {
      await batchDelete(await lanes());
      await storeItems(items);
    }

    test('refuses a later position, before and after something is logged', async () => {
      const author = await makeUser();
      await author.publishes();
      await applyStream();
      const before = await lanes();
      const old = await position();
      const ids = [await author.publishes()];
      const lost = await position();
      expect(lost).not.toBe(old);
      await restore(before);
      // For a minute, a transaction may still be in progress.
      expect(await follow(lost)).toMatchObject({ told: [], next: lost });
      stopClock(Date.now() + 61_000);
      expect(await ask({ since: lost })).toHaveStatus(410);
      jest.useRealTimers();
      // Logs a change in the lane that has lost one.
      const lane = (id = '') => Number.parseInt(id.slice(0, 8), 16) % 8;
      do ids.push(await author.publishes());
      while (lane(ids.at(-1)) !== lane(ids[0]));
      await applyStream();
      stopClock(Date.now() + 61_000);
      expect(await ask({ since: lost })).toHaveStatus(410);
      expect((await follow(old)).told.map(({ id }) => id)).toContain(ids.at(-1));
    });

    test('waits for the rest of a transaction in progress', async () => {
      const author = await makeUser();
      const since = await position();
      const known = new Set((await lanes()).map(({ pk, sk }) => pk + sk));
      const id = await author.publishes();
      await applyStream();
      const [item] = (await lanes()).filter(({ pk, sk }) => !known.has(pk + sk) && sk !== 'LANE');
      const logged = (await lanes()).find(
        ({ pk, changes }) => pk !== 'CHANGES' && `${changes}`.includes(id),
      ) as Item;
      expect([item, logged]).not.toContain(undefined);
      await batchWrite([{ delete: { pk: logged.pk, sk: logged.sk } }]);
      const early = await follow(since);
      expect(early.told).toEqual([]);
      await batchWrite([{ put: logged }]);
      expect((await follow(early.next)).told).toMatchObject([{ id }]);
    });
  });

  test('continues through a rebuild of the aggregates', async () => {
    const author = await makeUser();
    const since = await position();
    const first = await author.publishes();
    await applyStream();
    await rebuildTotals();
    const second = await author.publishes();
    await applyStream();
    const { told } = await follow(since);
    expect(told.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
  });
});
