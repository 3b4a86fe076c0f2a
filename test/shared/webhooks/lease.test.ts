import { webhookRunKey } from '../../../shared/table/keys.ts';
import { takeLease } from '../../../shared/webhooks/lease.ts';
import { recordSending } from '../../../shared/webhooks/run.ts';
import { stopClock } from '../../helpers/clock.ts';
import { readItem } from '../../helpers/items.ts';
import '../../helpers/table.ts';

test('one run at a time has the lease', async () => {
  const lease = await takeLease();
  expect(await takeLease()).toBeUndefined();
  expect(lease?.isLost()).toBe(false);
  await lease?.release();
  const next = await takeLease();
  expect(next).toBeDefined();
  await next?.release();
});

test('of several at once, one gets it', async () => {
  const leases = await Promise.all([1, 2, 3, 4, 5, 6].map(() => takeLease()));
  const [lease, ...more] = leases.filter((each) => each !== undefined);
  expect(more).toEqual([]);
  await lease?.release();
});

test('a run that has died holds up the next one for 15 seconds', async () => {
  const begin = Date.now();
  stopClock(begin);
  const dead = await takeLease();
  stopClock(begin + 14_999);
  expect(await takeLease()).toBeUndefined();
  expect(dead?.isLost()).toBe(false);
  stopClock(begin + 15_000);
  expect(dead?.isLost()).toBe(true);
  const next = await takeLease();
  expect(next).toBeDefined();
  // A late end of the dead run does not end the other's lease.
  await dead?.release();
  expect(next?.isLost()).toBe(false);
  expect(await takeLease()).toBeUndefined();
  await next?.release();
});

test('a lease is renewed every five seconds', async () => {
  const begin = Date.now();
  jest.useFakeTimers({
    now: begin,
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'setTimeout',
    ],
  });
  const lease = await takeLease();
  for (let seconds = 5; seconds <= 60; seconds += 5) {
    jest.advanceTimersByTime(5_000);
    const until = new Date(begin + seconds * 1000 + 15_000).toISOString();
    for (let i = 0; i < 100 && (await readItem(webhookRunKey))?.leased_until !== until; i++);
    expect((await readItem(webhookRunKey))?.leased_until).toBe(until);
  }
  expect(lease?.isLost()).toBe(false);
  await lease?.release();
  expect(await readItem(webhookRunKey)).not.toHaveProperty('leased_until');
});

test('the time of sending is recorded beside a lease', async () => {
  const lease = await takeLease();
  const at = Date.now();
  await recordSending(at);
  expect(await takeLease()).toBeUndefined();
  expect((await readItem(webhookRunKey))?.at).toBe(new Date(at).toISOString());
  await lease?.release();
});
