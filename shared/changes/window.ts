// Windows of the change log: the changes after a position, folded by review.
import * as v from 'valibot';
import { cursorGone } from '../errors.ts';
import { changesLanes } from '../table/keys.ts';
import { eachOf } from '../table/query.ts';
import { foldChanges, type LoggedChange, readLog } from './log.ts';

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Places of a reader of the change log. */
export const LanePlaces = v.object({
  /** Place of the last item read in each lane. */
  lanes: v.pipe(v.array(Count), v.length(changesLanes)),
  /** A lane that stopped in the middle of an item, and the number of changes already read. */
  into: v.optional(v.tuple([v.picklist([...Array(changesLanes).keys()]), Count])),
});
export type LanePlaces = v.InferOutput<typeof LanePlaces>;

/** Position of a reader of the change log, and its time in epoch ms. */
export const LogPosition = v.object({ time: Count, ...LanePlaces.entries });
export type LogPosition = v.InferOutput<typeof LogPosition>;

/** Milliseconds for which a position is valid. */
export const cursorLifetime = 30 * 86_400_000;

/** Milliseconds after which a transaction has certainly ended. */
const settled = 60_000;

/** Maximum of log items for a window, which changes of a few busy reviews might never fill. */
const mostLogged = 100;

/** A changed review: its changes, folded into one, and the place before the first of them. */
export interface Changed {
  change: LoggedChange;
  before: LanePlaces;
  /** Epoch ms at which the newest of the changes was logged. */
  at: number;
}

/** Changed reviews in the order of their first change, and the place after them. */
export interface LogWindow {
  changed: Changed[];
  end: LanePlaces;
  hasMore: boolean;
}

/**
 * Reads the next changed reviews up to `heads`, at most `limit`. Lanes are read one after the
 * other, beginning with the one furthest behind. Throws ApiError 410 for a position that is too old
 * or from another history.
 */
export async function readWindow(
  from: LogPosition,
  heads: readonly number[],
  limit: number,
): Promise<LogWindow> {
  if (Date.now() - from.time > cursorLifetime) throw cursorGone();
  // An item may be readable before its head, although one transaction writes both.
  for (const [lane, place] of from.lanes.entries()) {
    if (place > (heads[lane] ?? 0)) refuseGap(place);
  }
  const lanes = [...from.lanes];
  const changed = new Map<string, Changed>();
  const upTo = (end: LanePlaces, hasMore = true) => {
    return { changed: [...changed.values()], end, hasMore };
  };
  const placeOf = (lane: number) => (lane === from.into?.[0] ? -1 : (from.lanes[lane] ?? 0));
  const due = [...heads.entries()]
    .filter(([lane, head]) => head > (lanes[lane] ?? 0))
    .sort(([a], [b]) => placeOf(a) - placeOf(b));
  let read = 0;
  for (const [lane, head] of due) {
    let done = lane === from.into?.[0] ? from.into[1] : 0;
    for await (const { at, before, changes } of eachOf(readLog(lane, lanes[lane] ?? 0))) {
      if (before !== lanes[lane]) {
        refuseGap(at);
        break;
      }
      if (read++ === mostLogged) return upTo({ lanes });
      for (const change of changes.slice(done)) {
        const earlier = changed.get(change.id);
        if (!earlier) {
          const here: LanePlaces = { lanes: [...lanes], into: [lane, done] };
          if (changed.size === limit) return upTo(here);
          changed.set(change.id, { change, before: here, at });
        } else {
          earlier.change = foldChanges(earlier.change, change);
          earlier.at = at;
        }
        done++;
      }
      lanes[lane] = at;
      done = 0;
    }
    if ((lanes[lane] ?? 0) < head) refuseGap(head);
  }
  return upTo({ lanes }, false);
}

/** Accepts a gap younger than a minute: the transaction that fills it may be in progress. */
function refuseGap(place: number): void {
  if (Date.now() - place > settled) throw cursorGone();
}
