import * as v from 'valibot';
import { bytesOf } from '../bytes-of.ts';
import { chunks, fittingChunks } from '../chunks.ts';
import { cursorGone, invalidRequest } from '../errors.ts';
import { openCursor, sealCursor } from '../list/cursor.ts';
import { pick } from '../pick.ts';
import type { Review } from '../review/review.ts';
import { type AuthoredReview, findChangedReviews } from '../review/review-repository.ts';
import { fewest, listRevisions } from '../review/revision-repository.ts';
import { type Budget, budgetLeft } from '../table/budget.ts';
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

/** Reviews that are read together, with their authors. */
const groupSize = 16;

/** The most that a group costs: the longest texts, and another read of what a replica lacks. */
const groupCost = { read: 3.5 * groupSize, commands: 4 };

/** Revisions in a read of a history after the first, and in all of a history. */
const pageSize = 26;
const mostRevisions = 500;

/** Read units of the longest revision. */
const revisionUnits = 2.5;

/**
 * The most that a history costs. With a group and the log, which costs 46 units and 22 commands, it
 * is within the budget of a request. So an answer always has at least one change.
 */
const historyCost = { read: 98, commands: 20 };

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
  for (const group of chunks(changed, groupSize)) {
    if (entries.length > 0 && !isLeft(groupCost)) return entries;
    const current = await findChangedReviews(group.map(({ newest }) => newest));
    const reviews = new Map(current.map((each) => [each.review.id, each]));
    const costOf = ({ newest }: Changed) => worstCost(reviews.get(newest.id)?.review);
    const fits = (some: readonly Changed[]) => isWithin(historyCost, sum(some.map(costOf)));
    for (const some of fittingChunks(group, fits)) {
      if (entries.length > 0 && !isLeft(sum(some.map(costOf)))) return entries;
      const presented = await Promise.all(
        some.map((each) => present(each, reviews.get(each.newest.id))),
      );
      for (const entry of presented) {
        bytes += bytesOf(entry);
        if (bytes > mostPageBytes && entries.length > 0) return entries;
        entries.push(entry);
      }
    }
  }
  return entries;
}

type Cost = Pick<Budget, 'read' | 'commands'>;

const isLeft = ({ read, commands }: Cost) =>
  budgetLeft('read') >= read && budgetLeft('commands') >= commands;

const isWithin = (most: Cost, { read, commands }: Cost) =>
  read <= most.read && commands <= most.commands;

function sum(costs: readonly Cost[]): Cost {
  return {
    read: costs.reduce((total, { read }) => total + read, 0),
    commands: costs.reduce((total, { commands }) => total + commands, 0),
  };
}

/** Returns the most that the history of a review costs, without its current revision. */
function worstCost(review: Review | undefined): Cost {
  const edits = Math.min(review?.edits ?? 0, mostRevisions - 1);
  if (edits === 0) return { read: 0, commands: 0 };
  const pages = 1 + Math.ceil(Math.max(0, edits - fewest) / pageSize);
  // The longest revisions fill an answer with the first page and another.
  const read = Math.min(edits, fewest + pageSize) * revisionUnits;
  return { read, commands: Math.min(pages, historyCost.commands) };
}

/** Returns nothing if a later change will report the review as no longer public. */
async function present(
  { newest: { id, kind }, at: version }: Changed,
  authored: AuthoredReview | undefined,
): Promise<{ change?: PresentedChange; user?: PresentedAuthor }> {
  if (!authored) return kind === 'removed' ? { change: { id, version, review: null } } : {};
  const { review, author } = authored;
  const record = reviewRecord(
    review,
    await listRevisions(review, { pageSize, most: mostRevisions }),
  );
  const user = pick(author, ['id', 'display_name', 'karma']);
  return { change: { id, version, review: record }, user };
}

const seal = (cursor: FeedCursor) => sealCursor(binding, cursor);
