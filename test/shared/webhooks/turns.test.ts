import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { takeTurns } from '../../../shared/webhooks/turns.ts';

afterEach(() => {
  jest.useRealTimers();
});

const numbers = (count: number) => [...Array(count).keys()];

test('all have a turn, 50 at a time', async () => {
  const served: number[] = [];
  let now = 0;
  let most = 0;
  await takeTurns(
    numbers(1100),
    () => false,
    async (one) => {
      most = Math.max(most, ++now);
      await sleep(1);
      now--;
      served.push(one);
      return false;
    },
  );
  expect(served.toSorted((a, b) => a - b)).toEqual(numbers(1100));
  expect(most).toBe(50);
});

test('slow ones have half of the places, and hold up nobody else', async () => {
  const over = Promise.withResolvers<boolean>();
  let slow = 0;
  let quick = 0;
  const all = takeTurns(
    numbers(400),
    (one) => one < 200,
    async (one) => {
      if (one < 200) {
        slow++;
        return over.promise;
      }
      quick++;
      return false;
    },
  );
  while (quick < 200) await sleep(1);
  expect(slow).toBe(25);
  over.resolve(false);
  await all;
  expect(slow).toBe(200);
});

test('a turn is over after a second if others wait, and these come first', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const order: number[] = [];
  let isWaiting = false;
  const all = takeTurns(
    numbers(51),
    () => false,
    async (one, turn) => {
      order.push(one);
      if (one === 50) return false;
      if (one > 0) {
        // Hold the other places until the first one has come back.
        while (!isWaiting) await new Promise((resolve) => setTimeout(resolve, 100));
        return false;
      }
      if (order.filter((each) => each === 0).length > 1) {
        isWaiting = true;
        return false;
      }
      while (!turn.isOver()) await new Promise((resolve) => setTimeout(resolve, 100));
      return true;
    },
  );
  await jest.advanceTimersByTimeAsync(5_000);
  await all;
  // The last one had no place before the turn of the first was over.
  expect(order.slice(50)).toEqual([50, 0]);
});

test('a turn goes on while nobody waits', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  let isOver = true;
  const all = takeTurns(
    numbers(3),
    () => false,
    async (_, turn) => {
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      isOver = turn.isOver();
      return false;
    },
  );
  await jest.advanceTimersByTimeAsync(60_000);
  await all;
  expect(isOver).toBe(false);
});

test('who becomes slow in a turn comes back, whatever the places', async () => {
  const isSlow = new Set<number>();
  const turns = new Map<number, number>();
  await takeTurns(
    numbers(120),
    (one) => isSlow.has(one),
    async (one) => {
      isSlow.add(one);
      await sleep(one % 5);
      turns.set(one, (turns.get(one) ?? 0) + 1);
      return (turns.get(one) ?? 0) < 3;
    },
  );
  expect([...turns.values()]).toEqual(Array(120).fill(3));
});
