import type { Kind } from '../../base/table/kind.ts';
import { keyOf } from '../../core/keys.ts';

// Keys and kinds of the change log.

/**
 * Lanes of the change log. A review keeps its lane, so writers of different reviews seldom meet.
 */
export const changesLanes = 8;

/** Takes the time at which changes were logged (epoch ms). */
export const changesKey = keyOf('CHANGES#<lane:1>', 'AT#<time:13>');

/** The head of a lane, which points to its last item. */
export const laneKey = keyOf('CHANGES', 'LANE#<lane:1>');

/** Key of the epoch of the change log. It sorts before the lanes. */
export const epochKey = { pk: 'CHANGES', sk: 'EPOCH' };

export const kinds = {
  // Public reviews that were written, and people whose access ended: 20 changes.
  changes: {
    key: changesKey,
    kilobytes: 4,
    unexported: 'change log of this table, kept for 31 days',
    writers: ['hooks', 'lists'],
  },
  lane: {
    key: laneKey,
    unexported: 'end of the change log',
    writers: ['hooks', 'lists'],
  },
  // Time of the last restore, after which cursors are gone.
  epoch: {
    key: { form: epochKey },
    unexported: 'begins the change log of this table',
  },
} as const satisfies Record<string, Kind>;
