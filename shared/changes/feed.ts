import * as v from 'valibot';
import { invalidRequest, positionGone } from '../errors.ts';
import { bytesOf, largestBody } from '../lambda-limits.ts';
import { openPlace, sealPlace } from '../list/cursor.ts';
import type { Review } from '../review/review.ts';
import { findPublicReviews } from '../review/review-repository.ts';
import { listRevisions } from '../review/revision-repository.ts';
import { changesLanes } from '../table/keys.ts';
import { eachOf } from '../table/query.ts';
import { type Change, readHeads, readLogged } from './log.ts';
import type { ChangePage, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';

const Place = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/**
 * How far somebody has followed: when that was, the place in each lane, and of the lane that they are in the middle of, how many changes of the
 * next item are done. Reviews that were told as of a version whose change is not logged yet stand with that version `ahead`.
 */
const Position = v.object({
  time: Place,
  lanes: v.pipe(v.array(Place), v.length(changesLanes)),
  into: v.optional(v.tuple([v.picklist([...Array(changesLanes).keys()]), Place])),
  ahead: v.record(v.string(), Place),
});
type Position = v.InferOutput<typeof Position>;

const binding = 'changes';
const day = 86_400_000;

/** Milliseconds for which a position is good. */
const goodFor = 30 * day;

/** Milliseconds after which a transaction is surely over. */
const settled = 60_000;

/** How many reviews may be ahead: a position must stay short. */
const mostAhead = 16;

/** How many items of the log are read for an answer: reviews that change all the time fold, and would never fill it. */
const mostLogged = 1_000;

/** How many revisions are read for more than one review: 1,000 take 20 MB at most, and a hundred long histories more than a function has. */
const mostRevisions = 1_000;

/** The position behind all that is logged: who reads the table after this, and follows from here, misses nothing. */
export async function currentPosition(): Promise<string> {
  const time = Date.now();
  return seal({ time, lanes: await readHeads(), ahead: {} });
}

/**
 * What has changed behind a position, at most `limit` reviews: each as it is now, or null when it is public no more. The versions of one review only rise,
 * from page to page; what was changed again behind the page is told there, once. Throws ApiError 400 for what is no position, 410
 * for one that cannot be followed any more.
 */
export async function readChanges(since: string | undefined, limit: number): Promise<ChangePage> {
  if (since === undefined) return { changes: [], next: await currentPosition(), has_more: false };
  const from = openPlace(binding, Position, since);
  if (!from) throw invalidRequest('since must be a position: `next` of an answer, or of a dump');
  const time = Date.now();
  const heads = await readHeads();
  if (time - from.time > goodFor) throw positionGone();
  // An item may have become readable before its head, in the same transaction.
  for (const place of from.lanes.filter((place, lane) => place > (heads[lane] ?? 0)))
    refuseGap(place);

  const { window, hasMore, ...places } = await readWindow(from, heads, limit);
  const ahead = new Map(Object.entries(from.ahead));
  const told = await tell(window, ahead);
  const revisions = told.reduce((sum, { review }) => sum + (review ? review.edits + 1 : 0), 0);
  const fewer = () => readChanges(since, Math.ceil(limit / 2));
  if (limit > 1 && revisions > mostRevisions) return fewer();
  const changes = await Promise.all(told.map(present));
  if (limit > 1 && bytesOf(JSON.stringify(changes)) > largestBody) return fewer();
  const position = { time, ...places, ahead: Object.fromEntries(ahead) };
  // So that who asks again when nothing has changed may be told 304.
  const isSame = time - from.time < day && seal({ ...position, time: from.time }) === since;
  return { changes, next: isSame ? since : seal(position), has_more: hasMore };
}

/**
 * The newest changes of the next `limit` reviews. Lanes are read one after the other, the one that is behind the others first: the order of changes
 * is kept for each review.
 */
async function readWindow(
  from: Position,
  heads: readonly number[],
  limit: number,
): Promise<Pick<Position, 'lanes' | 'into'> & { window: Change[]; hasMore: boolean }> {
  const lanes = [...from.lanes];
  const window = new Map<string, Change>();
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
      if (read++ === mostLogged) return { lanes, window: [...window.values()], hasMore: true };
      for (const change of changes.slice(done)) {
        if (window.size === limit && !window.has(change.id)) {
          return { lanes, into: [lane, done], window: [...window.values()], hasMore: true };
        }
        window.delete(change.id);
        window.set(change.id, change);
        done++;
      }
      lanes[lane] = at;
      done = 0;
    }
    if ((lanes[lane] ?? 0) < head) refuseGap(head);
  }
  return { lanes, window: [...window.values()], hasMore: false };
}

/**
 * Throws ApiError 410, unless the place is so new that the transaction which writes it may be under
 * way: what is missing then comes.
 */
function refuseGap(place: number): void {
  if (Date.now() - place > settled) throw positionGone();
}

/** A change that is told, with the review while it is public. */
interface Told {
  change: Change;
  review: Review | undefined;
}

/**
 * Which of the changes are told here, with the review as it is now. That may be ahead of the change, because of another that is logged further behind: then the
 * position remembers of which version it was told, so that it is not told again. Where that are many already, the later change tells it.
 */
async function tell(window: readonly Change[], ahead: Map<string, number>): Promise<Told[]> {
  const found = await findPublicReviews(window.map(({ id }) => id));
  const reviews = new Map(found.map(({ review }) => [review.id, review]));
  return window.flatMap((change): Told[] => {
    const review = reviews.get(change.id);
    const told = ahead.get(change.id) ?? 0;
    if (told <= change.version) ahead.delete(change.id);
    if (!review) return change.isGone && change.version > told ? [{ change, review }] : [];
    const { version } = review;
    if (version <= told) return [];
    if (version > change.version) {
      if (ahead.size >= mostAhead) return [];
      ahead.set(change.id, version);
    }
    return [{ change: { ...change, version }, review }];
  });
}

async function present({ change: { id, version }, review }: Told): Promise<PresentedChange> {
  if (!review) return { id, version, review: null };
  return { id, version, review: reviewRecord(review, await listRevisions(review)) };
}

function seal(position: Position): string {
  return sealPlace(binding, position);
}
