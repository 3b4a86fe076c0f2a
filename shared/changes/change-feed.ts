import * as v from 'valibot';
import { bytesOf } from '../bytes-of.ts';
import { chunks } from '../chunks.ts';
import { cursorGone, invalidRequest } from '../errors.ts';
import { openCursor, sealCursor } from '../list/cursor.ts';
import { pick } from '../pick.ts';
import { type AuthoredReview, findChangedReviews } from '../review/review-repository.ts';
import { listRevisions } from '../review/revision-repository.ts';
import { changesLanes } from '../table/keys.ts';
import { eachOf } from '../table/query.ts';
import { type LoggedChange, readHeads, readLog } from './log.ts';
import type { ChangePage, PresentedAuthor, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';

// Pages of the change feed: logged changes, each with its review as it is now.

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
const mostLogged = 100;

/** Maximum bytes of an answer, as JSON. */
export const mostPageBytes = 512 * 1024;

/** Bytes of an answer that are neither a review nor its author: mostly the cursor. */
const frame = 1024;

/**
 * Read units after which an answer ends. One more group of reviews costs 70 at most, and one more
 * history 92. The log costs 24 at most.
 */
const mostUnits = 75;

/** Reviews that are read together, with their authors. The longest texts cost 3.5 units each. */
const groupSize = 20;

/** Revisions in a read. The longest texts cost 33 units. */
const pageSize = 13;

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
  for (const [lane, place] of from.lanes.entries()) {
    if (place > (heads[lane] ?? 0)) refuseGap(place);
  }

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
  change: LoggedChange;
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
        const earlier = changed.get(change.id);
        if (!earlier) {
          const here: LanePlaces = { lanes: [...lanes], into: [lane, done] };
          if (changed.size === limit) return upTo(here);
          changed.set(change.id, { change, before: here });
        } else if (change.version > earlier.change.version) {
          earlier.change = change;
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

type Entry = Awaited<ReturnType<typeof present>>;

/** Presents the first reviews as they are now, as many as fit an answer, but at least one. */
async function presentFirst(changed: readonly Changed[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  let bytes = frame;
  let units = 0;
  for (const group of chunks(changed, groupSize)) {
    if (units > mostUnits) return entries;
    const changes = group.map(({ change }) => change);
    const current = await findChangedReviews(changes);
    const reviews = new Map(current.map((each) => [each.review.id, each]));
    for (const { id } of changes) units += unitsOf(reviews.get(id));
    for (const change of changes) {
      if (units > mostUnits && entries.length > 0) return entries;
      const authored = reviews.get(change.id);
      const entry = await present(change, authored);
      bytes += bytesOf(entry);
      if (bytes > mostPageBytes && entries.length > 0) return entries;
      entries.push(entry);
      const revisions = entry.change?.review?.revisions.length ?? 0;
      if (revisions > 1) units += unitsFor(bytesOf(entry)) + revisions / pageSize / 2;
    }
  }
  return entries;
}

/** Returns nothing if a later change will report the review as no longer public. */
async function present(
  { id, version, isGone }: LoggedChange,
  authored: AuthoredReview | undefined,
): Promise<{ change?: PresentedChange; user?: PresentedAuthor }> {
  if (!authored) return isGone ? { change: { id, version, review: null } } : {};
  const { review, author } = authored;
  const record = reviewRecord(review, await listRevisions(review, { pageSize }));
  const user = pick(author, ['id', 'display_name', 'karma']);
  return { change: { id, version: review.version, review: record }, user };
}

/** Estimates the units of reading a review. One that is not public may have the longest text. */
function unitsOf(authored: AuthoredReview | undefined): number {
  if (!authored) return unitsFor(24_000);
  const { text, ...others } = authored.review;
  return unitsFor(Buffer.byteLength(text ?? '') + bytesOf(others));
}

/** Returns the units of an eventually consistent read, and half a unit for an author. */
const unitsFor = (bytes: number) => Math.ceil(bytes / 4096) / 2 + 0.5;

const seal = (position: FeedCursor) => sealCursor(binding, position);
