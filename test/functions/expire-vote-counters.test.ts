import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { handler } from '../../functions/background/expire-vote-counters.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { dailyVotesKey } from '../../shared/core/keys.ts';
import { readHealth } from '../../shared/features/health/health.ts';
import { silence } from '../helpers/console.ts';
import { readItem, scanTable, setAttributes, storeItems } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { makeUser } from '../helpers/world.ts';

const today = new Date().toISOString().slice(0, 10);
const day = (before: number) =>
  new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);

/** Writes counters of days long past, two for each user. */
async function fill(users: number) {
  const counters = Array.from({ length: users }, (_, i) =>
    [32, 33 + (i % 400)].map((before) => ({
      pk: `USER#${i}`,
      sk: `VOTES#${day(before)}`,
      all: 'VOTES',
      date: `${day(before)}#${i}`,
      count: 3,
    })),
  );
  await storeItems(counters.flat());
}

async function counters() {
  return (await scanTable()).filter(({ sk }) => sk.startsWith('VOTES#')).map(({ sk }) => sk);
}

test('deletes only the counters of days that statistics no longer cover', async () => {
  const logged = silence('info');
  const author = await makeUser();
  const voter = await makeUser();
  await voter.votes(await author.publishes());
  const kept = { pk: `USER#${voter.id}`, sk: `VOTES#${day(31)}` };
  await setAttributes(kept, { all: 'VOTES', date: `${day(31)}#${voter.id}`, count: 1, cast: 1 });
  await fill(300);
  expect(await handler()).toEqual({ deleted: 600, isWhole: true });
  expect((await counters()).toSorted()).toEqual([kept.sk, `VOTES#${today}`, `VOTES#${today}`]);
  await batchWrite([{ delete: kept }]);
  expect(logged.mock.calls).toEqual([
    [{ message: 'Expired vote counters', deleted: 600, isWhole: true }],
  ]);
  expect(await readItem(dailyVotesKey(voter.id, today))).toMatchObject({ count: 1 });
  expect(await readItem(dailyVotesKey(author.id, today))).toMatchObject({ publications: 1 });
  expect(await handler()).toEqual({ deleted: 0, isWhole: true });
  expect(logged).toHaveBeenCalledTimes(1);
});

test('ends after ten minutes, is done then, and leaves the rest to the next night', async () => {
  silence('info');
  await fill(1_000);
  let now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const spy = beforeSend((command) => {
    if (command instanceof BatchWriteCommand) now += 61_000;
  });
  const { deleted, isWhole } = await handler();
  clock.mockRestore();
  spy.mockRestore();
  expect(isWhole).toBe(false);
  expect(deleted).toBeLessThan(2_000);
  const { daily_job_age_seconds } = await readHealth();
  expect(daily_job_age_seconds).toBeLessThan(60);
  expect(await handler()).toEqual({ deleted: 2_000 - deleted, isWhole: true });
});

test('resumes after an interruption', async () => {
  silence('info');
  await fill(200);
  let batches = 0;
  const spy = beforeSend((command) => {
    if (command instanceof BatchWriteCommand && ++batches > 12) throw new Error('interrupted');
  });
  await expect(handler()).rejects.toThrow('interrupted');
  spy.mockRestore();
  expect(await handler()).toEqual({ deleted: 100, isWhole: true });
  expect(new Set(await counters())).toEqual(new Set([`VOTES#${today}`]));
});
