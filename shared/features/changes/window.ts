// Windows of the change log: the changes after a cursor, folded by review.
import { cursorGone } from '../../base/errors.ts';
import { eachOf } from '../../base/table/query.ts';
import type { LogCursor } from './cursor.ts';
import { readLog } from './log.ts';
import { type ChangeKind, type LoggedChange, newerOf, subjectOf } from './logged-change.ts';

/** Milliseconds after which a transaction has certainly ended. */
const settled = 60_000;

/** Maximum of log items for a window, which changes of a few busy reviews might never fill. */
const mostLogged = 100;

/** A review, or a person's access, with what happened to it in a window. */
export interface Changed {
  /** The change of the highest version. */
  newest: LoggedChange;
  kinds: ReadonlySet<ChangeKind>;
  /** Epoch ms at which the last change was logged. It rises with every change. */
  at: number;
  /** The cursor before the first change. */
  before: LogCursor;
}

/** The changed reviews in the order of their first changes, and the cursor after them. */
export interface LogWindow {
  changed: Changed[];
  end: LogCursor;
  hasMore: boolean;
}

/** Limits of a window. */
interface WindowOptions {
  /** Maximum of reviews. */
  limit: number;
  /** Returns true for a change that begins one of them. */
  wanted?: (change: LoggedChange) => boolean;
  /**
   * True for one lane only. Read again from the same cursor, such a window never ends earlier in
   * its lane, however many changes other lanes have by then.
   */
  isOfOneLane?: boolean;
}

/**
 * Reads what changed next, up to the end of the log. Lanes are read one after the other, beginning
 * with the one furthest behind. Throws ApiError 410 for a cursor whose changes are no longer in the
 * log, or from another epoch.
 */
export async function readWindow(
  from: LogCursor,
  end: LogCursor,
  { limit, wanted = () => true, isOfOneLane = false }: WindowOptions,
): Promise<LogWindow> {
  const { epoch } = end;
  if (from.epoch !== epoch) throw cursorGone();
  // An item may be readable before its head, although one transaction writes both.
  for (const [lane, time] of from.lanes.entries()) {
    if (time > (end.lanes[lane] ?? 0)) refuseGap(time);
  }
  const lanes = [...from.lanes];
  const changed = new Map<string, Changed>();
  const upTo = (cursor: LogCursor, hasMore = true) => ({
    changed: [...changed.values()],
    end: cursor,
    hasMore,
  });
  const timeOf = (lane: number) => (lane === from.into?.[0] ? -1 : (from.lanes[lane] ?? 0));
  const due = [...end.lanes.entries()]
    .filter(([lane, head]) => head > (lanes[lane] ?? 0))
    .sort(([a], [b]) => timeOf(a) - timeOf(b));
  let read = 0;
  for (const [lane, head] of due) {
    let done = lane === from.into?.[0] ? from.into[1] : 0;
    for await (const { at, before, changes } of eachOf(readLog(lane, lanes[lane] ?? 0))) {
      if (before !== lanes[lane]) {
        refuseGap(at);
        break;
      }
      if (read++ === mostLogged) return upTo({ lanes, epoch });
      for (const change of changes.slice(done)) {
        const subject = subjectOf(change);
        const earlier = changed.get(subject);
        if (earlier) changed.set(subject, withChange(earlier, change, at));
        else if (wanted(change)) {
          const here: LogCursor = { lanes: [...lanes], into: [lane, done], epoch };
          if (changed.size === limit) return upTo(here);
          changed.set(subject, {
            newest: change,
            kinds: new Set([change.kind]),
            at,
            before: here,
          });
        }
        done++;
      }
      lanes[lane] = at;
      done = 0;
    }
    if ((lanes[lane] ?? 0) < head) refuseGap(head);
    if (isOfOneLane && read > 0) return upTo({ lanes, epoch });
  }
  return upTo({ lanes, epoch }, false);
}

function withChange({ newest, kinds, before }: Changed, change: LoggedChange, at: number): Changed {
  return { newest: newerOf(newest, change), kinds: new Set([...kinds, change.kind]), at, before };
}

/** Accepts a gap younger than a minute: the transaction that fills it may be in progress. */
function refuseGap(time: number): void {
  if (Date.now() - time > settled) throw cursorGone();
}
