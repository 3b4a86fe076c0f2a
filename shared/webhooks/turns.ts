/** Those who have a turn at the same time. Slow ones have at most half of the places. */
const places = 50;

/** In milliseconds. After it a turn ends, if others wait. */
const longestTurn = 1_000;

/** A turn that is under way. */
export interface Turn {
  /** Returns true if the turn is over, because it was long and others wait. */
  isOver(): boolean;
}

/**
 * Gives turns to all, 50 at a time, until none wants another. `take` returns true to wait for
 * another. A slow receiver delays other slow receivers only.
 */
export async function takeTurns<T>(
  all: readonly T[],
  isSlow: (one: T) => boolean,
  take: (one: T, turn: Turn) => Promise<boolean>,
): Promise<void> {
  const queue = [...all];
  async function work(mayBeSlow: boolean): Promise<void> {
    for (;;) {
      const next = queue.findIndex((one) => mayBeSlow || !isSlow(one));
      const [one] = next < 0 ? [] : queue.splice(next, 1);
      if (one === undefined) return;
      const end = performance.now() + longestTurn;
      const isOver = () => queue.length > 0 && performance.now() > end;
      if (await take(one, { isOver })) queue.push(one);
    }
  }
  // A worker that finds nothing ends. If slow ones come back after that, there are new workers.
  do {
    await Promise.all(Array.from({ length: places }, (_, i) => work(i % 2 === 0)));
  } while (queue.length > 0);
}
