import { randomUUID } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { handler } from '../../functions/background/update-aggregates.ts';
import { serviceUnavailable } from '../../shared/base/errors.ts';
import { rankTreeKey, totalKey } from '../../shared/base/list/keys.ts';
import { rebuildKeys } from '../../shared/core/keys.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { Tally } from '../../shared/features/audit/tally.ts';
import {
  deleteLocks,
  expectExactTotals,
  feed,
  live,
  locks,
  lockTotals,
  records,
} from '../helpers/aggregates.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { afterSend, beforeSend } from '../helpers/sends.ts';
import { makeUser } from '../helpers/world.ts';

beforeEach(() => {
  for (const level of ['warn', 'error'] as const) {
    jest.spyOn(console, level).mockImplementation(() => {});
  }
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

  test('does not interrupt another rebuild, unless that was silent for a minute', async () => {
    const now = Math.floor(Date.now() / 1000);
    await lockTotals('another', now + 60);
    await expect(rebuildTotals()).rejects.toHaveStatus(503);
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
    /** Leaves so much to correct that the rebuild takes several writes. */
    async function leftover() {
      await setAttributes(totalKey('work'), { 'xx|both': 7 });
      for (let node = 900; node < 930; node++) {
        await setAttributes(rankTreeKey('all|work|xx', 'popularity', [3, node]), { '7b': 1 });
      }
    }
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

  test('that counts for minutes keeps its lock', async () => {
    let now = Date.now();
    stopClock(now);
    await live();
    const { countActual } = Tally.prototype;
    jest.spyOn(Tally.prototype, 'countActual').mockImplementation(function* (this: Tally) {
      for (let i = 0; i < 5; i++) {
        now += 40_000;
        jest.setSystemTime(now);
        yield;
      }
      yield* countActual.call(this);
    });
    await rebuildTotals();
    expect(await locks()).toEqual([]);
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

  test.each([
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
