import * as v from 'valibot';
import { cursorGone, invalidRequest } from '../errors.ts';
import { bytesOf, largestBody } from '../lambda-limits.ts';
import { openCursor, sealCursor } from '../list/cursor.ts';
import { pick } from '../pick.ts';
import { type AuthoredReview, findPublicReviews } from '../review/review-repository.ts';
import { listRevisions } from '../review/revision-repository.ts';
import { changesLanes } from '../table/keys.ts';
import { eachOf } from '../table/query.ts';
import { type Change, readHeads, readLog } from './log.ts';
import type { ChangePage, PresentedAuthor, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Position of a mirror in the change log, and its time in epoch ms. */
const FeedCursor = v.object({
  time: Count,
  /** Place of the last item read in each lane. */
  lanes: v.pipe(v.array(Count), v.length(changesLanes)),
  /** A lane that stopped in the middle of an item, and the number of changes already read. */
  into: v.optional(v.tuple([v.picklist([...Array(changesLanes).keys()]), Count])),
});
type FeedCursor = v.InferOutput<typeof FeedCursor>;
type LanePlaces = Omit<FeedCursor, 'time'>;

const binding = 'changes';
const day = 86_400_000;

/** Milliseconds for which a position is valid. */
export const cursorLifetime = 30 * day;

/** Milliseconds after which a transaction has certainly ended. */
const settled = 60_000;

/** Maximum of log items for an answer, which changes of a few busy reviews might never fill. */
const mostLogged = 1_000;

/** Maximum of revisions for an answer with several reviews, up to 20 MB in memory. */
const mostRevisions = 1_000;

/** Returns the position after everything logged. Take it before reading the table. */
export async function currentPosition(): Promise<string> {
  const time = Date.now();
  return seal({ time, lanes: await readHeads() });
}

/**
 * Reads the changes after a position, of at most `limit` reviews. Each review is given as it is
 * now, or as null if it is no longer public. A change may be repeated. Throws ApiError 400 for an
 * invalid position, and 410 for a position that is too old or from another history.
 */
export async function readChanges(since: string | undefined, limit: number): Promise<ChangePage> {
  if (since === undefined) {
    return { changes: [], users: [], next: await currentPosition(), has_more: false };
  }
  const from = openCursor(binding, FeedCursor, since);
  if (!from) throw invalidRequest('since must be a position: `next` of an answer, or of a dump');
  const time = Date.now();
  const heads = await readHeads();
  if (time - from.time > cursorLifetime) throw cursorGone();
  // An item may be readable before its head, although one transaction writes both.
  for (const place of from.lanes.filter((place, lane) => place > (heads[lane] ?? 0)))
    refuseGap(place);

  const window = await readWindow(from, heads, limit);
  const entries = await presentFirst(window.changed);
  const rest = window.changed[entries.length];
  const next = rest ? rest.before : window.end;
  const users = new Map(entries.flatMap(({ user }) => (user ? [[user.id, user]] : [])));
  // The same position lets a repeated request without news get a 304.
  const isSame = time - from.time < day && seal({ time: from.time, ...next }) === since;
  return {
    changes: entries.flatMap(({ change }) => change ?? []),
    users: [...users.values()],
    next: isSame ? since : seal({ time, ...next }),
    has_more: window.hasMore || rest !== undefined,
  };
}

/** A changed review: the newest change read, and the place before its first change. */
interface Changed {
  change: Change;
  before: LanePlaces;
}

/**
 * Reads the next changed reviews, at most `limit`, in the order of their first change. Lanes are
 * read one after the other, beginning with the one furthest behind.
 */
async function readWindow(from: FeedCursor, heads: readonly number[], limit: number) {
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
        const known = changed.get(change.id);
        if (!known) {
          const here: LanePlaces = { lanes: [...lanes], into: [lane, done] };
          if (changed.size === limit) return upTo(here);
          changed.set(change.id, { change, before: here });
        } else if (change.version > known.change.version) known.change = change;
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

/** Presents the first reviews as they are now, as many as fit an answer. */
async function presentFirst(changed: readonly Changed[]) {
  const found = await findPublicReviews(changed.map(({ change }) => change.id));
  const reviews = new Map(found.map((each) => [each.review.id, each]));
  const revisions = changed.map(({ change: { id } }) => 1 + (reviews.get(id)?.review.edits ?? 0));
  const first = changed.slice(0, fitting(revisions, mostRevisions));
  const entries = await Promise.all(
    first.map(({ change }) => present(change, reviews.get(change.id))),
  );
  const sizes = entries.map((each) => bytesOf(JSON.stringify(each)));
  return entries.slice(0, fitting(sizes, largestBody));
}

/** Returns nothing if a later change will report the review as no longer public. */
async function present(
  { id, version, isGone }: Change,
  authored: AuthoredReview | undefined,
): Promise<{ change?: PresentedChange; user?: PresentedAuthor }> {
  if (!authored) return isGone ? { change: { id, version, review: null } } : {};
  const { review, author } = authored;
  const record = reviewRecord(review, await listRevisions(review));
  const user = pick(author, ['id', 'display_name', 'karma']);
  return { change: { id, version: review.version, review: record }, user };
}

/** Returns how many leading sizes fit `most` together, but at least one. */
function fitting(sizes: readonly number[], most: number): number {
  let sum = 0;
  const end = sizes.findIndex((size, i) => {
    sum += size;
    return i > 0 && sum > most;
  });
  return end < 0 ? sizes.length : end;
}

const seal = (position: FeedCursor) => sealCursor(binding, position);
