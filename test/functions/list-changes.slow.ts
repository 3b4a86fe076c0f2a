import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { measure } from '../../bin/bench/measure.ts';
import { bytesOf } from '../../shared/base/bytes-of.ts';
import { table } from '../../shared/base/table/client.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { changesKey, laneKey } from '../../shared/features/changes/kinds.ts';
import { logChanges } from '../../shared/features/changes/log.ts';
import { choices } from '../helpers/choices.ts';
import { readItem, setAttributes, storeItems } from '../helpers/items.ts';
import {
  addHistory,
  ask,
  dump,
  feed,
  follow,
  position,
  records,
  type Told,
} from '../helpers/list-changes.ts';
import { afterSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, makeUsers, type Person, text } from '../helpers/world.ts';

describe('a mirror', () => {
  test.each([1, 2, 3])(
    'that starts from a dump matches a later dump (seed %i)',
    async (seed) => {
      const { random, pick } = choices(seed);
      const users = await makeUsers(6);
      const ids = [];
      for (let i = 0; i < 10; i++) {
        const author = pick(users);
        ids.push({ author, id: await author.publishes() });
      }
      await applyStream();
      // The position is read before the table, so changes in between are repeated.
      let since = (await ask()).body.next;
      await ids[0]?.author.edits(ids[0].id, { rating: 2 });
      const mirror = await dump();
      const versions = new Map<string, number>();
      let behind: DynamoDBRecord[] = [];
      const read = async () => {
        const { body } = await ask({ since, limit: `${1 + Math.floor(random() * 5)}` });
        for (const { id, version, review } of body.changes) {
          const known = versions.get(id) ?? 0;
          expect(version).toBeGreaterThanOrEqual(known);
          if (version <= known) continue;
          versions.set(id, version);
          if (review) mirror.set(id, JSON.stringify(review));
          else mirror.delete(id);
        }
        since = body.next;
        return body.has_more;
      };
      for (let step = 0; step < 150; step++) {
        const { id, author } = pick(ids);
        const user = pick(users);
        const acts = [
          async () => ids.push({ author: user, id: await user.publishes() }),
          async () => author.edits(id, { rating: 1 + Math.floor(random() * 5) }),
          async () => author.edits(id, { text: `${step}. ${text}` }),
          ...Array(3).fill(async () =>
            user.votes(id, random() < 0.7 ? 'up' : 'down').catch(() => {}),
          ),
          async () => user.withdrawsVote(id),
          async () => setHidden(id, random() < 0.5).catch(() => {}),
          async () => random() < 0.3 && author.deletes(id),
        ];
        await pick(acts)();
        if (random() < 0.4) {
          behind.push(...(await records()));
          const count = Math.ceil(random() * behind.length);
          await feed(behind.slice(0, count));
          // Some batches are delivered twice.
          behind = behind.slice(random() < 0.2 ? 0 : count);
        }
        if (random() < 0.4) await read();
      }
      await feed([...behind, ...(await records())]);
      while (await read());
      expect(new Map([...mirror].toSorted())).toEqual(new Map([...(await dump())].toSorted()));
      expect(versions.size).toBeGreaterThan(10);
    },
    60_000,
  );
});

// The last test, because the emulator slows down with every record in its stream.
describe('GET /changes, with very many changes', () => {
  test('ends a page at 512 KB, and says where the revisions beyond 256 KB are', async () => {
    const author = await makeUser();
    const since = await position();
    const long = '🎷'.repeat(5_000);
    for (let i = 0; i < 12; i++) {
      await addHistory(await author.publishes({ text: `${i}${long.slice(8)}` }), 29);
    }
    await applyStream();
    const sizes = [];
    const seen = new Set<string>();
    let body = { next: since, has_more: true, changes: [] as Told[] };
    while (body.has_more) {
      ({ body } = await ask({ since: body.next, limit: '100' }));
      sizes.push(bytesOf(body));
      for (const { id, review } of body.changes) {
        seen.add(id);
        const ids = review?.revisions.map((revision) => revision.id);
        expect(ids).toEqual([18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
        expect(review?.earlier_revisions).toBe(`/review/${id}/revisions?before=18`);
      }
    }
    expect(seen.size).toBe(12);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(524_288);
  });

  test('reads long histories in small groups, and reports all of them', async () => {
    const author = await makeUser();
    const since = await position();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push(await author.publishes());
    for (const id of ids) await addHistory(id, 499);
    await applyStream();
    const seen: string[] = [];
    let body = { next: since, has_more: true, changes: [] as Told[] };
    while (body.has_more) {
      let read = 0;
      const spy = afterSend((_, { Items = [] }) => {
        read += Items.filter(({ sk }) => sk.startsWith('REVISION#')).length;
      });
      ({ body } = await ask({ since: body.next, limit: '100' }));
      spy.mockRestore();
      expect(read).toBeLessThan(2_000);
      for (const { review } of body.changes) expect(review?.revisions).toHaveLength(500);
      seen.push(...body.changes.map(({ id }) => id));
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  test('ends before a request has used its budget, however many reviews were edited', async () => {
    const people = await makeUsers(4);
    const since = await position();
    const ids: string[] = [];
    for (let i = 0; i < 90; i++) {
      const author = people[i % 4] as Person;
      const id = await author.publishes({ text: `${i}. ${text}` });
      await author.edits(id, { rating: 1 + (i % 5), text: `${i}. Edited: ${text}` });
      ids.push(id);
    }
    await applyStream();
    // Each answer is checked against the budget of its route.
    const { told, pages } = await follow(since, 100);
    expect(told.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const { review } of told) expect(review?.revisions).toHaveLength(2);
    expect(pages).toBeLessThanOrEqual(6);
  }, 60_000);

  test('reads a history of thousands of short revisions, and says where the rest is', async () => {
    const author = await makeUser();
    const since = await position();
    const id = await author.publishes({ text: null, rating: 3 });
    await addHistory(id, 4_000);
    await applyStream();
    const { told } = await follow(since, 100);
    const ids = told.flatMap(
      ({ review }) => review?.revisions.map((revision) => revision.id) ?? [],
    );
    expect(ids.at(-1)).toBe(4_001);
    expect(ids.length).toBeGreaterThan(500);
    expect(told[0]?.review?.earlier_revisions).toBe(`/review/${id}/revisions?before=${ids[0]}`);
  });

  test('reads a bounded part of the log for each answer', async () => {
    const author = await makeUser();
    const id = await author.publishes();
    const since = await position();
    // Writes the log of 3,000 votes cast one after the other.
    const lane = Number.parseInt(id.slice(0, 8), 16) % 8;
    const last = Number((await readItem(laneKey(lane)))?.latest);
    const items = Array.from({ length: 3_000 }, (_, n) => ({
      ...changesKey(lane, last + n + 1),
      before: last + n,
      changes: [`${id} ${n + 2}`],
    }));
    await storeItems(items);
    await setAttributes(laneKey(lane), { latest: last + 3_000 });
    await setAttributes(reviewKey(id), { version: 3_001 });
    const sent = jest.spyOn(table, 'send');
    const { told, pages } = await follow(since, 100);
    // Each page also reads the heads of the lanes, and the review.
    expect(sent.mock.calls.length / pages).toBeLessThan(50);
    expect(pages).toBeGreaterThan(2);
    // Each page has the review once, with the time of the last vote on the page.
    expect(told.at(-1)?.version).toBe(last + 3_000);
  });

  test('costs one unit if nothing is new, else one a change and six a lane', async () => {
    const since = await position();
    const query = { since };
    expect(await measure('list-changes', { query })).toMatchObject({ read: 1, roundTrips: 1 });
    // Each log item holds twenty changes.
    const ids = Array.from({ length: 200 }, () => randomUUID());
    for (let version = 1; version <= 12; version++) {
      await logChanges(ids.map((id) => ({ id, version, kind: 'removed' as const })));
    }
    for (const limit of [1, 10]) {
      const { read, body } = await measure('list-changes', { query: { since, limit: `${limit}` } });
      expect(body).toMatchObject({ has_more: true, changes: { length: limit } });
      expect(read).toBeLessThanOrEqual(1 + limit + 6);
    }
  });
});
