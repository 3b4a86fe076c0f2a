import * as v from 'valibot';
import { bytesOf } from '../bytes-of.ts';
import { chunks } from '../chunks.ts';
import { cursorGone, invalidRequest } from '../errors.ts';
import { openCursor, sealCursor } from '../list/cursor.ts';
import { pick } from '../pick.ts';
import { type AuthoredReview, findChangedReviews } from '../review/review-repository.ts';
import { listRevisions } from '../review/revision-repository.ts';
import { cursorLifetime, LogCursor } from './cursor.ts';
import { readLogEnd } from './log.ts';
import { isOfReview } from './logged-change.ts';
import type { ChangePage, PresentedAuthor, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';
import { type Changed, readWindow } from './window.ts';

// Pages of the change feed: logged changes, each with its review as it is now.

const binding = 'changes';
const day = 86_400_000;

/** A cursor of the feed, with its time in epoch ms. */
const FeedCursor = v.object({
  time: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  ...LogCursor.entries,
});
type FeedCursor = v.InferOutput<typeof FeedCursor>;

/** Maximum bytes of an answer, as JSON. */
export const mostPageBytes = 512 * 1024;

/** Bytes of an answer that are neither a review nor its author: mostly the cursor. */
const frame = 1024;

/**
 * Read units after which an answer ends. One more group of reviews costs 70 at most, and one more
 * history 92. The log costs 46 at most.
 */
const mostUnits = 60;

/** Reviews that are read together, with their authors. The longest texts cost 3.5 units each. */
const groupSize = 20;

/** Revisions in a read. The longest texts cost 33 units. */
const pageSize = 13;

/** Returns the cursor after everything logged. Take it before reading the table. */
export async function currentCursor(): Promise<string> {
  const time = Date.now();
  return seal({ time, ...(await readLogEnd()) });
}

/**
 * Reads the changes after a cursor, of at most `limit` reviews. Each review is given as it is now,
 * or as null if it is no longer public. A change may be repeated. Throws ApiError 400 for an
 * invalid cursor, and 410 for a cursor that is too old or from before a restore.
 */
export async function readChanges(since: string | undefined, limit: number): Promise<ChangePage> {
  if (since === undefined) {
    return { changes: [], users: [], next: await currentCursor(), has_more: false };
  }
  const from = openCursor(binding, FeedCursor, since);
  if (!from) throw invalidRequest('since must be a cursor: `next` of an answer, or of a dump');
  const time = Date.now();
  if (time - from.time > cursorLifetime) throw cursorGone();
  const window = await readWindow(from, await readLogEnd(), { limit, wanted: isOfReview });
  const entries = await presentFirst(window.changed);
  const rest = window.changed[entries.length];
  const next = rest ? rest.before : window.end;
  const users = new Map(entries.flatMap(({ user }) => (user ? [[user.id, user]] : [])));
  // The same cursor lets a repeated request without news get a 304.
  const isSame = time - from.time < day && seal({ time: from.time, ...next }) === since;
  return {
    changes: entries.flatMap(({ change }) => change ?? []),
    users: [...users.values()],
    next: isSame ? since : seal({ time, ...next }),
    has_more: window.hasMore || rest !== undefined,
  };
}

type Entry = Awaited<ReturnType<typeof present>>;

/** Presents the first reviews as they are now, as many as fit an answer, but at least one. */
async function presentFirst(changed: readonly Changed[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  let bytes = frame;
  let units = 0;
  for (const group of chunks(changed, groupSize)) {
    if (units > mostUnits) return entries;
    const changes = group.map(({ newest }) => newest);
    const current = await findChangedReviews(changes);
    const reviews = new Map(current.map((each) => [each.review.id, each]));
    for (const { id } of changes) units += unitsOf(reviews.get(id));
    for (const each of group) {
      if (units > mostUnits && entries.length > 0) return entries;
      const authored = reviews.get(each.newest.id);
      const entry = await present(each, authored);
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
  { newest: { id, kind }, at: version }: Changed,
  authored: AuthoredReview | undefined,
): Promise<{ change?: PresentedChange; user?: PresentedAuthor }> {
  if (!authored) return kind === 'removed' ? { change: { id, version, review: null } } : {};
  const { review, author } = authored;
  const record = reviewRecord(review, await listRevisions(review, { pageSize }));
  const user = pick(author, ['id', 'display_name', 'karma']);
  return { change: { id, version, review: record }, user };
}

/** Estimates the units of reading a review. One that is not public may have the longest text. */
function unitsOf(authored: AuthoredReview | undefined): number {
  if (!authored) return unitsFor(24_000);
  const { text, ...others } = authored.review;
  return unitsFor(Buffer.byteLength(text ?? '') + bytesOf(others));
}

/** Returns the units of an eventually consistent read, and half a unit for an author. */
const unitsFor = (bytes: number) => Math.ceil(bytes / 4096) / 2 + 0.5;

const seal = (cursor: FeedCursor) => sealCursor(binding, cursor);
