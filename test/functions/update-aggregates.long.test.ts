import { randomUUID } from 'node:crypto';
import { BatchWriteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { randomNumbers } from '../../bin/random.ts';
import { handler } from '../../functions/update-aggregates.ts';
import { addDeferred } from '../../shared/aggregates/defer.ts';
import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { serviceUnavailable } from '../../shared/errors.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { table } from '../../shared/table/client.ts';
import { rankTreeKey, rebuildKeys, totalKey } from '../../shared/table/keys.ts';
import { restore, stopClock } from '../helpers/clock.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { aggregateDifferences } from '../helpers/recount.ts';
import { afterSend, beforeSend } from '../helpers/sends.ts';
import { readStream } from '../helpers/stream.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

beforeEach(() => {
  for (const level of ['warn', 'error'] as const) {
    jest.spyOn(console, level).mockImplementation(() => {});
  }
});
afterEach(restore);

/** Returns the records written since the last call, as the consumer receives them. */
async function records(): Promise<DynamoDBRecord[]> {
  const all = await readStream();
  return all.filter(({ dynamodb }) => ['REVIEW', 'USER'].includes(dynamodb?.Keys?.sk?.S ?? ''));
}

/** Publishes, changes, hides, votes on and deletes reviews, and adds users. */
async function live(): Promise<void> {
  const [voter, ...authors] = await makeUsers(7);
  for (const [i, author] of authors.entries()) {
    const content = { language: ['en', 'de'][i % 2], is_draft: i === 3 };
    const review_id = await author.publishes(content);
    if (voter && i !== 3) await voter.votes(review_id);
    await author.edits(review_id, { rating: null });
    if (i === 1 || i === 2) await setHidden(review_id, true);
    if (i === 2) await setHidden(review_id, false);
    if (i >= 4) await author.deletes(review_id);
  }
}

async function totals() {
  const items = (await scanTable()).filter(({ sk }) => sk.startsWith('TOTAL#'));
  return Object.fromEntries(items.map(({ sk, pk: _, ...numbers }) => [sk, numbers]));
}

async function expectExactTotals(): Promise<void> {
  expect(await aggregateDifferences()).toEqual([]);
}

async function lockTotals(id: string, until: number): Promise<void> {
  for (const key of rebuildKeys) await setAttributes(key, { id, until });
}

async function deleteLocks(): Promise<void> {
  await batchWrite(rebuildKeys.map((key) => ({ delete: key })));
}

const locks = async () => (await scanTable()).filter(({ sk }) => sk.startsWith('REBUILD'));

async function feed(Records: DynamoDBRecord[]): Promise<void> {
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
}

const failureAt = (record?: DynamoDBRecord) => {
  return { batchItemFailures: [{ itemIdentifier: record?.dynamodb?.SequenceNumber }] };
};

const random = randomNumbers(3);
function shuffled<T>(from: readonly T[]): T[] {
  return from
    .map((value) => [random(), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value);
}

describe('the consumer', () => {
  test('keeps the totals of reviews by type, language and content, and of users', async () => {
    await live();
    await feed(await records());
    // A registered facet without reviews counts 0.
    const facets = { 'en|text': 2, 'en|both': 0, 'de|both': 0 };
    expect(await totals()).toEqual({ 'TOTAL#release_group': facets });
    await expectExactTotals();
  });

  test.each<[string, (all: DynamoDBRecord[]) => DynamoDBRecord[][]]>([
    ['one by one', (all) => all.map((record) => [record])],
    ['in one batch', (all) => [all]],
    ['in batches of seven', (all) => all.map((_, i) => (i % 7 ? [] : all.slice(i, i + 7)))],
    ['twice', (all) => [all, all]],
    ['each twice in a row', (all) => all.map((record) => [record, record])],
    ['backwards', (all) => all.toReversed().map((record) => [record])],
    ['in any order', (all) => shuffled(all).map((record) => [record])],
    ['in any order, in batches, twice', (all) => [shuffled(all), shuffled(all)]],
    ['with an old half replayed', (all) => [all, all.slice(0, all.length / 2)]],
  ])('counts exactly when records arrive %s', async (_, batches) => {
    await live();
    for (const batch of batches(await records())) await feed(batch);
    await expectExactTotals();
  });

  test('counts exactly when batches are processed in parallel', async () => {
    await live();
    const all = await records();
    await Promise.all([feed(all), feed(all.slice(5)), ...all.map((record) => feed([record]))]);
    await expectExactTotals();
  });

  describe('in a batch that does not fit a transaction', () => {
    /** Returns records of `count` reviews in 35 facets, and of their authors. */
    async function many(count: number): Promise<DynamoDBRecord[]> {
      const languages = ['en', 'de', 'fr', 'ja', 'pt'];
      const types = ['artist', 'work', 'event', 'place', 'label', 'bk_author', 'bk_series'];
      for (const [i, user] of (await makeUsers(count)).entries()) {
        await user.publishes({ language: languages[i % 5], entity_type: types[i % 7] });
      }
      return records();
    }
    /** Returns the fewest records that make a batch a busy one. */
    async function busy(): Promise<DynamoDBRecord[]> {
      await makeUsers(34);
      return records();
    }
    const deferred = async () => (await scanTable()).filter(({ pk }) => pk === 'DEFERRED');
    /** Kills the process at its nth transaction, either before it or after its commit. */
    function dieAt(nth: number, when: 'before' | 'after'): { transactions: number } {
      const seen = { transactions: 0 };
      const send = table.send.bind(table);
      const mocked = async (command: never) => {
        const isFatal =
          (command as object) instanceof TransactWriteCommand && ++seen.transactions >= nth;
        if (isFatal && (when === 'before' || seen.transactions > nth)) throw new Error('killed');
        const answer = await send(command);
        if (isFatal) throw new Error('killed');
        return answer;
      };
      jest.spyOn(table, 'send').mockImplementation(mocked as never);
      return seen;
    }

    test('sums what changes have in common, and leaves no pending counts', async () => {
      const all = await many(40);
      const seen = dieAt(Number.POSITIVE_INFINITY, 'after');
      await feed(all);
      expect(await deferred()).toEqual([]);
      await expectExactTotals();
      // 80 changes, which separately would take 80 transactions.
      expect(seen.transactions).toBeLessThan(12);
    });

    test.each(['before', 'after'] as const)(
      'counts exactly if it dies %s a transaction and the batch repeats',
      async (when) => {
        const whole = await busy();
        const healthy = dieAt(Number.POSITIVE_INFINITY, when);
        await feed(whole);
        jest.mocked(table.send).mockRestore();
        // At least one transaction defers counts, and one adds them.
        expect(healthy.transactions).toBeGreaterThan(1);
        for (let nth = 1; nth <= healthy.transactions; nth++) {
          const all = await busy();
          dieAt(nth, when);
          await handler({ Records: all });
          jest.mocked(table.send).mockRestore();
          // Sends half of the batch first, as Lambda splits batches.
          await feed(all.slice(0, 20));
          await feed(all.slice(20));
          expect(await deferred()).toEqual([]);
          await expectExactTotals();
        }
      },
    );

    /** Leaves pending counts, and returns their records. */
    async function leaveCounts(): Promise<DynamoDBRecord[]> {
      const all = await busy();
      dieAt(2, 'before');
      await handler({ Records: all });
      jest.mocked(table.send).mockRestore();
      expect(await deferred()).not.toEqual([]);
      return all;
    }

    test('adds pending counts once, even from two shards', async () => {
      const all = await leaveCounts();
      const spy = afterSend(async () => {
        spy.mockRestore();
        await addDeferred();
      });
      await addDeferred();
      expect(await deferred()).toEqual([]);
      await feed(all);
      await expectExactTotals();
    });

    test('adds pending counts even if none of their records repeats', async () => {
      await leaveCounts();
      await makeUser();
      await feed(await records());
      expect(await deferred()).toEqual([]);
      await expectExactTotals();
    });

    test('discards pending counts that a rebuild has included', async () => {
      const all = await leaveCounts();
      await rebuildTotals();
      expect(await deferred()).toEqual([]);
      await expectExactTotals();
      await feed(all);
      await expectExactTotals();
    });
  });

  test('remembers removed items for 14 days against late records', async () => {
    const author = await makeUser();
    const review_id = await author.publishes();
    await author.deletes(review_id);
    const all = await records();
    await feed(all.toReversed());
    const applied = await readItem({ pk: `REVIEW#${review_id}`, sk: 'PROJECTION' });
    expect(applied).toMatchObject({ counted: null, version: 2 });
    expect((Number(applied?.expires_at) - Date.now() / 1000) / 86_400).toBeCloseTo(14, 2);
    await feed(all);
    await expectExactTotals();
  });

  test('fails from the first record that it cannot apply', async () => {
    const users = await makeUsers(4);
    const all = await records();
    // No item can have this key.
    const Keys = { pk: { S: '' }, sk: { S: 'USER' } };
    const poisoned = { ...all[2], dynamodb: { ...all[2]?.dynamodb, Keys } };
    expect(await handler({ Records: all.with(2, poisoned) })).toEqual(failureAt(all[2]));
    // Without the message, because an error message of DynamoDB may quote an item.
    const error = { name: 'ValidationException', stack: expect.any(Array) };
    const retried = { message: 'A batch failed; retrying its records one by one', error };
    expect(jest.mocked(console.warn).mock.calls).toEqual([[retried]]);
    const failed = { message: 'A record failed', eventID: all[2]?.eventID, error };
    expect(jest.mocked(console.error).mock.calls).toEqual([[failed]]);
    const isApplied = async (i: number) =>
      (await readItem({ pk: `USER#${users[i]?.id}`, sk: 'PROJECTION' })) !== undefined;
    const order = all.map(({ dynamodb }) =>
      users.findIndex(({ id }) => dynamodb?.Keys?.pk?.S === `USER#${id}`),
    );
    expect(await Promise.all(order.map(isApplied))).toEqual([true, true, false, false]);
    await feed(all.slice(2));
    await expectExactTotals();
  });

  test('waits while totals are rebuilt', async () => {
    const before = await totals();
    await makeUser();
    const all = await records();
    await lockTotals('another', Math.floor(Date.now() / 1000) + 60);
    expect(await handler({ Records: all })).toEqual(failureAt(all[0]));
    expect(await totals()).toMatchObject(before);
    // A rebuild that died blocks nobody any longer.
    await lockTotals('another', Math.floor(Date.now() / 1000) - 1);
    await feed(all);
    await deleteLocks();
    await expectExactTotals();
  });
});

describe('a rebuild', () => {
  test('corrects nothing if all is right, and releases its lock', async () => {
    await live();
    await feed(await records());
    const counts = await rebuildTotals();
    expect(counts.corrected_projections).toBe(0);
    expect(counts.users).toBe((await scanTable()).filter(({ sk }) => sk === 'USER').length);
    expect(await locks()).toEqual([]);
    await expectExactTotals();
  });

  test('corrects wrong, missing and leftover numbers', async () => {
    await setAttributes(totalKey('release_group'), { 'en|both': 1_000, 'en|text': -3 });
    await setAttributes(totalKey('work'), { 'xx|both': 7 });
    await setAttributes(rankTreeKey('all', 'root', []), { '900t': 5, '900T': 5 });
    await setAttributes(rankTreeKey('all|work|xx', 'popularity', [3, 900]), { '7b': 1 });
    await setAttributes(rankTreeKey('users', 'root', []), { '900u': 0 });
    const ghost = { pk: `REVIEW#${randomUUID()}`, sk: 'PROJECTION' };
    await setAttributes(ghost, { version: 3, counted: 'work|en|both' });
    const author = await makeUser();
    await author.publishes();
    const seen: number[] = [];
    const { corrected_projections } = await rebuildTotals((items) => seen.push(items));
    expect(corrected_projections).toBe(3);
    expect(seen.at(-1)).toBeGreaterThan(0);
    expect(await readItem(ghost)).toMatchObject({ version: 4, counted: null });
    await expectExactTotals();
    // Later stream records count nothing twice.
    await feed(await records());
    await expectExactTotals();
  });

  test('is exact despite concurrent writes', async () => {
    const writing = live();
    await rebuildTotals();
    await writing;
    await feed(await records());
    await expectExactTotals();
  });

  test('keeps facets that writers register during the rebuild', async () => {
    // Leaves something to correct, so that the rebuild writes after it has counted everything.
    await (await makeUser()).publishes();
    const spy = afterSend(async (command) => {
      if (!(command instanceof BatchWriteCommand)) return;
      spy.mockRestore();
      await setAttributes(totalKey('release_group'), { 'mt|both': 0 });
    });
    await rebuildTotals();
    expect(await readItem(totalKey('release_group'))).toMatchObject({ 'mt|both': 0 });
    await feed(await records());
  });

  test('does not interrupt another rebuild, unless that was silent for a minute', async () => {
    const now = Math.floor(Date.now() / 1000);
    await lockTotals('another', now + 60);
    await expect(rebuildTotals()).rejects.toMatchObject({ status: 503 });
    expect(await locks()).toMatchObject(rebuildKeys.map(() => ({ id: 'another' })));
    await lockTotals('another', now - 1);
    await rebuildTotals();
    expect(await locks()).toEqual([]);
  });

  test.each<[string, (writes: number) => number]>([
    ['while it reads', () => 0],
    ['after its first write', () => 1],
    ['after its last write', (writes) => writes],
  ])('that stalls for 70 seconds %s stops writing, and says what to rerun', async (_, choose) => {
    const now = Date.now();
    stopClock(now);
    const author = await makeUser();
    await author.publishes();
    await feed(await records());
    const leftover = () => setAttributes(totalKey('work'), { 'xx|both': 7 });
    let writes = 0;
    const counting = afterSend((command) => {
      if (command instanceof BatchWriteCommand) writes++;
    });
    await leftover();
    await rebuildTotals();
    counting.mockRestore();
    expect(writes).toBeGreaterThan(1);

    const pausedAfter = choose(writes);
    const pause = () => jest.setSystemTime(now + 70_000);
    writes = 0;
    const pausing = afterSend(async (command) => {
      if (!(command instanceof BatchWriteCommand) || ++writes !== pausedAfter) return;
      pause();
      // The consumer stops waiting.
      await author.publishes();
      await feed(await records());
    });
    await leftover();
    const refused = { status: 503, message: expect.stringContaining('aggregates rebuild') };
    const rebuilt = rebuildTotals(pausedAfter === 0 ? pause : undefined);
    await expect(rebuilt).rejects.toMatchObject(refused);
    expect(writes).toBe(pausedAfter);
    pausing.mockRestore();

    await rebuildTotals();
    await feed(await records());
    await expectExactTotals();
  });

  test('with a clock two minutes behind reports that it lost its lock', async () => {
    const now = Date.now();
    stopClock(now - 120_000);
    const author = await makeUser();
    await feed(await records());
    let isMeanwhile = true;
    const meanwhile = async () => {
      if (!isMeanwhile) return;
      isMeanwhile = false;
      jest.setSystemTime(now);
      await author.publishes();
      expect(await handler({ Records: await records() })).toEqual({ batchItemFailures: [] });
      jest.setSystemTime(now - 120_000);
    };
    const spy = beforeSend(async (command) => {
      // Everything is read, and nothing written yet.
      if (command instanceof BatchWriteCommand) await meanwhile();
    });
    await setAttributes(totalKey('work'), { 'xx|both': 7 });
    await expect(rebuildTotals()).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('npm run admin -- aggregates rebuild'),
    });
    expect(isMeanwhile).toBe(false);
    spy.mockRestore();
    jest.setSystemTime(now);
    await deleteLocks();
    await rebuildTotals();
    await expectExactTotals();
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['the table is busy', async () => {}, /^Busy/],
    ['another is at work', () => lockTotals('another', Date.now()), /^Another rebuild is at work/],
  ])('that gives up when %s says what to rerun', async (_, hinder, reason) => {
    await (await makeUser()).publishes();
    await feed(await records());
    await setAttributes(totalKey('work'), { 'xx|both': 7 });
    expect(await locks()).toEqual([]);
    await hinder();
    const spy = beforeSend((command) => {
      if (command instanceof BatchWriteCommand) throw serviceUnavailable();
    });
    const { message } = (await rebuildTotals().catch((thrown: Error) => thrown)) as Error;
    spy.mockRestore();
    await deleteLocks();
    expect(message).toMatch(reason);
    const rerun = 'may be wrong until this has run: npm run admin -- aggregates rebuild';
    expect(message.slice(-rerun.length)).toBe(rerun);
    await rebuildTotals();
    await feed(await records());
    await expectExactTotals();
  });

  test('that takes long keeps its lock', async () => {
    const now = Date.now();
    stopClock(now);
    await live();
    await setAttributes(totalKey('work'), { 'xx|both': 7 });
    let seconds = 0;
    const spy = beforeSend((command) => {
      if (!(command instanceof BatchWriteCommand)) return;
      seconds += 50;
      jest.setSystemTime(now + 1000 * seconds);
    });
    await rebuildTotals();
    expect(seconds).toBeGreaterThan(60);
    spy.mockRestore();
    await feed(await records());
    await expectExactTotals();
  });

  test('releases its lock when it fails', async () => {
    const fail = () => {
      throw new Error('interrupted');
    };
    await expect(rebuildTotals(fail)).rejects.toThrow('interrupted');
    expect(await locks()).toEqual([]);
  });
});
