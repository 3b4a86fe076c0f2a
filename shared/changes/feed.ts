import * as v from 'valibot';
import { invalidRequest, positionGone } from '../errors.ts';
import { bytesOf, largestBody } from '../lambda-limits.ts';
import { openPlace, sealPlace } from '../list/cursor.ts';
import { type AuthoredReview, findPublicReviews } from '../review/review-repository.ts';
import { listRevisions } from '../review/revision-repository.ts';
import { changesLanes } from '../table/keys.ts';
import { eachOf } from '../table/query.ts';
import { type Change, readHeads, readLogged } from './log.ts';
import type { ChangePage, PresentedAuthor, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';

const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/**
 * Position of a follower, and its time: in each lane the last item that was passed, and
 * how many changes of the next item, in the one lane that they are in the middle of.
 */
const Position = v.object({
  time: Count,
  lanes: v.pipe(v.array(Count), v.length(changesLanes)),
  into: v.optional(v.tuple([v.picklist([...Array(changesLanes).keys()]), Count])),
});
type Position = v.InferOutput<typeof Position>;
type Place = Omit<Position, 'time'>;

const binding = 'changes';
const day = 86_400_000;

/** Milliseconds for which a position is good. */
export const goodFor = 30 * day;

/** Milliseconds after which a transaction is surely over. */
const settled = 60_000;

/** How many items of the log are read for an answer: reviews that change all the time fold, and would never fill it. */
const mostLogged = 1_000;

/** How many revisions are read for more than one review: 1,000 take 20 MB at most, and a hundred long histories more than a function has. */
const mostRevisions = 1_000;

/** The position behind all that is logged: who reads the table after this, and follows from here, misses nothing. */
export async function currentPosition(): Promise<string> {
  const time = Date.now();
  return seal({ time, lanes: await readHeads() });
}

/**
 * Changes behind a position, of at most `limit` reviews: each review as it is now, or null when it
 * is public no more. A change may be told more than once. Throws ApiError 400 for what is no
 * position, 410 for one that cannot be followed any more.
 */
export async function readChanges(since: string | undefined, limit: number): Promise<ChangePage> {
  if (since === undefined) {
    return { changes: [], users: [], next: await currentPosition(), has_more: false };
  }
  const from = openPlace(binding, Position, since);
  if (!from) throw invalidRequest('since must be a position: `next` of an answer, or of a dump');
  const time = Date.now();
  const heads = await readHeads();
  if (time - from.time > goodFor) throw positionGone();
  // An item may have become readable before its head, in the same transaction.
  for (const place of from.lanes.filter((place, lane) => place > (heads[lane] ?? 0)))
    refuseGap(place);

  const window = await readWindow(from, heads, limit);
  const told = await tell(window.changed);
  const rest = window.changed[told.length];
  const next = rest ? rest.before : window.end;
  const users = new Map(told.flatMap(({ user }) => (user ? [[user.id, user]] : [])));
  // So that who asks again when nothing has changed may be told 304.
  const isSame = time - from.time < day && seal({ time: from.time, ...next }) === since;
  return {
    changes: told.flatMap(({ change }) => change ?? []),
    users: [...users.values()],
    next: isSame ? since : seal({ time, ...next }),
    has_more: window.hasMore || rest !== undefined,
  };
}

/** A review that has changed: the newest change that was read, and the place before the first. */
interface Changed {
  change: Change;
  before: Place;
}

/**
 * The next reviews that have changed, at most `limit`, in the order of their first change. Lanes
 * are read one after the other, the one that is behind the others first.
 */
async function readWindow(
  from: Position,
  heads: readonly number[],
  limit: number,
): Promise<{ changed: Changed[]; end: Place; hasMore: boolean }> {
  const lanes = [...from.lanes];
  const changed = new Map<string, Changed>();
  const upTo = (end: Place, hasMore = true) => ({ changed: [...changed.values()], end, hasMore });
  const placeOf = (lane: number) => (lane === from.into?.[0] ? -1 : (from.lanes[lane] ?? 0));
  const due = [...lanes.keys()]
    .filter((lane) => (heads[lane] ?? 0) > (lanes[lane] ?? 0))
    .sort((a, b) => placeOf(a) - placeOf(b));
  let read = 0;
  for (const lane of due) {
    const head = heads[lane] ?? 0;
    let done = lane === from.into?.[0] ? from.into[1] : 0;
    for await (const { at, before, changes } of eachOf(readLogged(lane, lanes[lane] ?? 0))) {
      if (before !== lanes[lane]) {
        refuseGap(at);
        break;
      }
      if (read++ === mostLogged) return upTo({ lanes });
      for (const change of changes.slice(done)) {
        const known = changed.get(change.id);
        if (!known) {
          const here: Place = { lanes: [...lanes], into: [lane, done] };
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

/**
 * Throws ApiError 410, unless the place is so new that the transaction which writes it may be under
 * way: what is missing then comes.
 */
function refuseGap(place: number): void {
  if (Date.now() - place > settled) throw positionGone();
}

/**
 * An entry of a page, with the author. Empty where a later change will say that the review is gone.
 */
interface Told {
  change?: PresentedChange;
  user?: PresentedAuthor;
}

/** The first of the reviews, as they are now: as many as an answer takes. */
async function tell(changed: readonly Changed[]): Promise<Told[]> {
  const found = await findPublicReviews(changed.map(({ change }) => change.id));
  const reviews = new Map(found.map((each) => [each.review.id, each]));
  const revisions = changed.map(({ change: { id } }) => 1 + (reviews.get(id)?.review.edits ?? 0));
  const told = await Promise.all(
    changed
      .slice(0, fitting(revisions, mostRevisions))
      .map(({ change }) => present(change, reviews.get(change.id))),
  );
  const sizes = told.map((each) => bytesOf(JSON.stringify(each)));
  return told.slice(0, fitting(sizes, largestBody));
}

async function present(
  { id, version, isGone }: Change,
  authored: AuthoredReview | undefined,
): Promise<Told> {
  if (!authored) return isGone ? { change: { id, version, review: null } } : {};
  const { review, author } = authored;
  const record = reviewRecord(review, await listRevisions(review));
  const { display_name, karma } = author;
  return {
    change: { id, version: review.version, review: record },
    user: { id: author.id, display_name, karma },
  };
}

/** Number of the first that together have at most this size: one at least, however large. */
function fitting(sizes: readonly number[], most: number): number {
  let sum = 0;
  const end = sizes.findIndex((size, i) => {
    sum += size;
    return i > 0 && sum > most;
  });
  return end < 0 ? sizes.length : end;
}

function seal(position: Position): string {
  return sealPlace(binding, position);
}
