import { jest } from '@jest/globals';

/** Stops the clock at this time, for dates only; timers go on. `jest.useRealTimers()` ends it. */
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

/** For `afterEach`: lets the clock go on, and restores what was mocked. */
export function restore(): void {
  jest.useRealTimers();
  jest.restoreAllMocks();
}
