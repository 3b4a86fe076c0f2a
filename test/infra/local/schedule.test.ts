import { followClock } from '../../../infra/local/schedule.ts';
import type { Schedule } from '../../../shared/base/background/schedule.ts';
import { silence } from '../../helpers/console.ts';

const daily: Schedule = { operation: 'sweep', runs: { hour: 0, minute: 15 }, table: 'write' };
const minutely: Schedule = { operation: 'beat', runs: 'every minute', table: 'health' };
const runs: string[] = [];
let broken = false;

/** Lets so many milliseconds pass. */
const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

const sweep = (event: unknown) => {
  if (broken) throw new Error('broken');
  runs.push((event as { time: string }).time.slice(0, 16));
};

beforeEach(() => {
  runs.length = 0;
  broken = false;
  silence('error');
  jest.useFakeTimers({ now: new Date('2026-11-20T22:00:30Z') });
});

test('runs a job at the start, then daily at its time', async () => {
  const clock = followClock([daily], async () => sweep);
  await pass(48 * 3_600_000);
  expect(runs).toEqual(['2026-11-20T22:00', '2026-11-21T00:15', '2026-11-22T00:15']);
  await clock.stop();
  await pass(48 * 3_600_000);
  expect(runs).toHaveLength(3);
});

test('runs a job late that was due while the machine slept', async () => {
  const clock = followClock([daily], async () => sweep);
  await pass(0);
  jest.setSystemTime(new Date('2026-11-21T09:00:00Z'));
  await pass(60_000);
  expect(runs).toEqual(['2026-11-20T22:00', '2026-11-21T09:01']);
  await clock.stop();
});

test('retries a failed job a minute later', async () => {
  broken = true;
  const clock = followClock([daily], async () => sweep);
  await pass(60_000);
  expect(runs).toEqual([]);
  broken = false;
  await pass(60_000);
  expect(runs).toEqual(['2026-11-20T22:02']);
  await clock.stop();
});

test('runs other jobs every minute, even while one takes long', async () => {
  const long = Promise.withResolvers<void>();
  let beats = 0;
  const load = async (operation: string) => {
    if (operation === 'sweep') return () => long.promise;
    return () => {
      beats++;
    };
  };
  const clock = followClock([daily, minutely], load);
  await clock.begun;
  expect(beats).toBe(1);
  await pass(10 * 60_000);
  expect(beats).toBe(11);
  long.resolve();
  await clock.stop();
  await pass(10 * 60_000);
  expect(beats).toBe(11);
});

describe('a job with looks', () => {
  const looking = { ...minutely, lookEvery: 5 };

  test('runs every minute, and looks every few seconds in between', async () => {
    const events: boolean[] = [];
    const clock = followClock([looking], async () => (event) => {
      const { look, lookEvery } = event as { look: boolean; lookEvery: number };
      events.push(look);
      expect(lookEvery).toBe(5);
    });
    await pass(60_000);
    expect(events.filter((look) => !look)).toHaveLength(2);
    expect(events.filter((look) => look)).toHaveLength(12);
    await clock.stop();
    await pass(60_000);
    expect(events).toHaveLength(14);
  });

  test('runs again at once while it has more to do, and never beside itself', async () => {
    let left = 3;
    let now = 0;
    let most = 0;
    const clock = followClock([looking], async () => async () => {
      most = Math.max(most, ++now);
      await pause(7_000);
      now--;
      left--;
      return { hasMore: left > 0 };
    });
    await pass(21_000);
    expect({ left, most }).toEqual({ left: 0, most: 1 });
    const stopping = clock.stop();
    await pass(60_000);
    await stopping;
    expect(most).toBe(1);
  });

  test('runs at once as often as it has more to do', async () => {
    let runs = 0;
    const clock = followClock([looking], async () => async () => {
      await pause(1_000);
      runs++;
      return { hasMore: runs < 4 };
    });
    // Before the first look.
    await pass(4_500);
    expect(runs).toBe(4);
    await clock.stop();
  });

  test('does not go on after a stop', async () => {
    let runs = 0;
    const clock = followClock([looking], async () => async () => {
      runs++;
      await pause(1_000);
      return { hasMore: true };
    });
    await pass(500);
    const stopping = clock.stop();
    await pass(60_000);
    await stopping;
    expect(runs).toBe(1);
  });

  test('that has failed waits for its minute', async () => {
    let runs = 0;
    const clock = followClock([looking], async () => () => {
      runs++;
      throw new Error('broken');
    });
    await pass(59_000);
    expect(runs).toBe(1);
    await pass(1_000);
    expect(runs).toBe(2);
    await clock.stop();
  });
});

test('has no further looks of a quiet job until something is written', async () => {
  let version = 1;
  let isQuiet = false;
  let looked = 0;
  const watchful = { ...minutely, lookEvery: 5 };
  const job = () => {
    looked += 1;
    return { isQuiet };
  };
  const clock = followClock(
    [watchful],
    async () => job,
    () => version,
  );
  await pass(10_000);
  expect(looked).toBe(3);
  isQuiet = true;
  await pass(20_000);
  expect(looked).toBe(4);
  version += 1;
  await pass(20_000);
  expect(looked).toBe(5);
  // The run of every minute is no look.
  await pass(10_000);
  expect(looked).toBe(6);
  await clock.stop();
});
