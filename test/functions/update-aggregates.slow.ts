import type { DynamoDBRecord } from 'aws-lambda';
import { randomNumbers } from '../../bin/random.ts';
import { handler } from '../../functions/background/update-aggregates.ts';
import {
  deferred,
  deleteLocks,
  dieAt,
  expectExactTotals,
  feed,
  live,
  lockTotals,
  records,
  silenceConsumer,
  totals,
} from '../helpers/aggregates.ts';
import { readItem } from '../helpers/items.ts';
import { makeUser, makeUsers } from '../helpers/world.ts';

beforeEach(silenceConsumer);

const failureAt = (record?: DynamoDBRecord) => {
  return { batchItemFailures: [{ itemIdentifier: record?.dynamodb?.SequenceNumber }] };
};

const random = randomNumbers(3);
function shuffled<T>(from: readonly T[]) {
  return from
    .map((value) => [random(), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value);
}

describe('the consumer', () => {
  test('keeps the totals of reviews by type, language and content, and of users', async () => {
    await live();
    await feed(await records());
    expect(await totals()).toEqual({ 'TOTAL#release_group': { EN: 2, t: 2 } });
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
    async function many(count: number) {
      const languages = ['en', 'de', 'fr', 'ja', 'pt'];
      const types = ['artist', 'work', 'event', 'place', 'label', 'bk_author', 'bk_series'];
      for (const [i, user] of (await makeUsers(count)).entries()) {
        await user.publishes({ language: languages[i % 5], entity_type: types[i % 7] });
      }
      return records();
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
    // Without what the consumer itself wrote before, such as entities that wait for a name.
    await feed(await records());
    const users = await makeUsers(4);
    const all = await records();
    // No item can have this key.
    const Keys = { pk: { S: '' }, sk: { S: 'USER' } };
    const poisoned = { ...all[2], dynamodb: { ...all[2]?.dynamodb, Keys } };
    expect(await handler({ Records: all.with(2, poisoned) })).toEqual(failureAt(all[2]));
    const message = expect.stringContaining('a partition key has 1 to 2,048 bytes');
    const error = { name: 'RefusedRequest', message, stack: expect.any(Array) };
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
