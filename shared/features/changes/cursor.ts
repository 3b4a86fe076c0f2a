import * as v from 'valibot';
import { changesLanes } from './kinds.ts';

// Cursors: how far a reader has come in the change log.

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Milliseconds for which a mirror's cursor is valid, and changes can be replayed. */
export const cursorLifetime = 30 * 86_400_000;

/** A cursor of the change log. Times of logging are in epoch ms. */
export const LogCursor = v.object({
  /** Time of the last item read in each lane, or 0. */
  lanes: v.pipe(v.array(Count), v.length(changesLanes)),
  /** A lane that stopped in the middle of an item, and the number of changes already read. */
  into: v.optional(v.tuple([v.picklist([...Array(changesLanes).keys()]), Count])),
  /** The epoch of the log: the time of the last restore, or unset before the first. */
  epoch: v.optional(Count),
});
export type LogCursor = v.InferOutput<typeof LogCursor>;

/** Returns a text that is equal for two cursors only if no change lies between them. */
export function markOf({ lanes, into, epoch }: LogCursor): string {
  const sum = lanes.reduce((total, time) => total + time, 0);
  return [epoch ?? 0, sum, ...(into ?? [])].join('+');
}
