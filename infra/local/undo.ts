import { setTimeout as sleep } from 'node:timers/promises';

/** In milliseconds, for a step of the stop. The gateway takes at most eight seconds. */
const patience = 8_500;

/** Steps that end what was started, in the order of the start. */
export type Undo = (() => unknown)[];

/** Runs every step in reverse order, even if an earlier step hangs or fails. */
export async function undoAll(steps: Undo) {
  for (const step of steps.toReversed()) {
    const over = new AbortController();
    try {
      await Promise.race([step(), sleep(patience, undefined, over)]);
    } catch (error) {
      console.error('error while stopping:', error);
    } finally {
      over.abort();
    }
  }
}
