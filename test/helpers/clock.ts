import { setTimeout as sleep } from 'node:timers/promises';

/** Stops the clock at this time, for dates only; timers go on. The end of a test ends it. */
export function stopClock(now: number): void {
  jest.useRealTimers();
  jest.useFakeTimers({
    now,
    doNotFake: [
      'clearImmediate',
      'clearInterval',
      'clearTimeout',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'setInterval',
      'setTimeout',
    ],
  });
}

/** Goes on while a test has stopped all clocks. */
const realNow = performance.now.bind(performance);

/** Waits for the next millisecond, because what is of one millisecond has no order. */
export function passMillisecond(): void {
  const next = realNow() + 1;
  while (realNow() <= next);
}

/**
 * Returns whether a promise settles within so many milliseconds, of those that this thread is awake
 * and looks for it. A busy machine takes none of them away.
 */
export async function settlesWithin(milliseconds: number, promise: Promise<unknown>) {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  for (let i = 0; i < milliseconds / 10 && !isSettled; i++) await sleep(10);
  return isSettled;
}

/** Lets the clock go on, and restores what was mocked. The end of a test does so, too. */
export function restore(): void {
  jest.useRealTimers();
  jest.restoreAllMocks();
}
