/**
 * Messages of all replays together in a second. On a server, a message takes the thread that serves
 * people for up to 4 ms, so replays take at most a fifth of it. Who replays feels it: the changes
 * of a month of 1,000 changes a day take ten minutes.
 */
export const messagesPerSecond = 50;

/** Waits for the moment of the next message of a replay. */
export type ReplayPace = () => Promise<void>;

/** Makes a pace that all replays of a run share. */
export function newReplayPace(): ReplayPace {
  const pause = 1000 / messagesPerSecond;
  let next = performance.now();
  return async () => {
    const now = performance.now();
    const moment = Math.max(now, next);
    next = moment + pause;
    await new Promise((resolve) => setTimeout(resolve, moment - now));
  };
}
