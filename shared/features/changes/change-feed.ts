import * as v from 'valibot';
import { mostAnswerBytes } from '../../base/answer-size.ts';
import { bytesOf } from '../../base/bytes-of.ts';
import { cursorGone, invalidRequest } from '../../base/errors.ts';
import { openCursor, sealCursor } from '../../base/list/cursor.ts';
import { pick } from '../../base/pick.ts';
import { getItems } from '../../base/table/batch.ts';
import { leftOf } from '../../base/table/budget.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { presentEntity } from '../../core/entity/metadata.ts';
import { type Entity, type EntityRecord, recordIn, recordKey } from '../../core/entity/record.ts';
import { isWhole } from '../../core/review/long-text.ts';
import { type AuthoredReview, findChangedReviews } from '../../core/review/read-reviews.ts';
import { currentRevision, readKind } from '../../core/review/review.ts';
import { listRevisions } from '../../core/review/revision-repository.ts';
import { cursorLifetime, LogCursor } from './cursor.ts';
import { readLogEnd } from './log.ts';
import { isOfReview, isPublicChange, subjectOf } from './logged-change.ts';
import type { ChangePage, PresentedAuthor, PresentedChange } from './presented.ts';
import { reviewRecord } from './record.ts';
import { type Changed, readWindow } from './window.ts';

// Pages of the change feed: logged changes, each with its review as it is now.

const binding = 'changes';
const day = 86_400_000;
const hour = 3_600_000;

/** A cursor of the feed, with its time in epoch ms. */
const FeedCursor = v.object({
  time: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  ...LogCursor.entries,
});
type FeedCursor = v.InferOutput<typeof FeedCursor>;

/** Maximum bytes of an answer, as JSON. */
export const mostPageBytes = mostAnswerBytes;

/** Bytes of an answer that are neither a review nor its author: mostly the cursor. */
const frame = 1024;

/** Reviews that are read together, with their authors, and the most bytes of them. */
const group = { reviews: 20, bytes: 256 * 1024 };

/**
 * Round trips of a page: one for the end of the log, one for each of eight lanes that is behind,
 * and for each group two, or four if replicas lag. A history or long text takes one more. They are
 * bounded by the request's 60 commands alone, because each read tells how much the next may take.
 * A mirror feels it, which polls; nobody waits for a page of the feed.
 *
 * Left of the request's budget to begin another group, or a history or long text. A group or a long
 * text takes up to 100 read units if replicas lag. A read of a history ends after 1 MB, which are
 * 128 units.
 */
const needed = {
  group: { read: 100, commands: 8 },
  history: { read: 128, commands: 20 },
} as const;

/**
 * Returns the cursor after everything logged. Take it before reading the table. It is the same for
 * an hour if nothing is logged, so that an answer with it has the same ETag.
 */
export async function currentCursor(): Promise<string> {
  const time = Math.floor(Date.now() / hour) * hour;
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
  const window = await readWindow(from, await readLogEnd(), { limit, wanted: isPublicChange });
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

/** Nothing if a later change tells more. */
interface Entry {
  change?: PresentedChange;
  user?: PresentedAuthor;
}

/**
 * Presents the first reviews as they are now, as many as fit an answer and the budget of a request,
 * but at least one.
 */
async function presentFirst(changed: readonly Changed[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  let bytes = frame;
  for (const some of groupsOf(changed)) {
    if (entries.length > 0 && !isLeft(needed.group)) return entries;
    const ofReviews = some.map(({ newest }) => newest).filter(isOfReview);
    const [current, records] = await Promise.all([
      findChangedReviews(ofReviews),
      readRecords(some),
    ]);
    const reviews = new Map(current.map((each) => [each.review.id, each]));
    for (const each of some) {
      const record = records.get(subjectOf(each.newest));
      const authored = reviews.get(each.newest.id);
      const hasMore = authored && (authored.review.edits > 0 || !isWhole(authored.review));
      if (entries.length > 0 && hasMore && !isLeft(needed.history)) return entries;
      const entry = isOfReview(each.newest)
        ? await present(each, authored)
        : presentNamed(each, record);
      bytes += bytesOf(entry);
      if (bytes > mostPageBytes && entries.length > 0) return entries;
      entries.push(entry);
    }
  }
  return entries;
}

/** Reads the records of changed entities, by `subjectOf`. */
async function readRecords(changed: readonly Changed[]): Promise<Map<string, EntityRecord>> {
  const named = changed.map(({ newest }) => newest).filter(({ kind }) => kind === 'named');
  const entities = named.map(({ id, entity_type }): Entity => {
    return { entity_id: id, entity_type: entity_type as EntityType };
  });
  const items = await getItems(entities.map(recordKey), { consistent: true });
  return new Map(
    entities.flatMap((entity, i) => {
      const record = recordIn(entity, items[i]);
      const change = named[i];
      return record && change ? [[subjectOf(change), record] as const] : [];
    }),
  );
}

function presentNamed(
  { newest: { id }, at: version }: Changed,
  record: EntityRecord | undefined,
): Entry {
  if (!record) return {};
  const subject = { type: record.entity_type, id };
  const change = { kind: 'entity', subject, id, version, review: null } as const;
  return { change: { ...change, ...presentEntity(record) } };
}

function isLeft({ read, commands }: { read: number; commands: number }): boolean {
  return leftOf('read') >= read && leftOf('commands') >= commands;
}

/** Splits changes into groups to read together, by the sizes that their reviews had. */
function* groupsOf(changed: readonly Changed[]): Generator<Changed[]> {
  let some: Changed[] = [];
  let bytes = 0;
  for (const each of changed) {
    const size = readKind(each.newest.index).bytes;
    if (some.length === group.reviews || (some.length > 0 && bytes + size > group.bytes)) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(each);
    bytes += size;
  }
  if (some.length > 0) yield some;
}

/** Returns nothing if a later change will report the review as no longer public. */
async function present(
  { newest: { id, kind }, at: version }: Changed,
  authored: AuthoredReview | undefined,
): Promise<Entry> {
  const change = { kind: 'review', subject: { type: 'review', id }, id, version } as const;
  if (!authored) return kind === 'removed' ? { change: { ...change, review: null } } : {};
  const { review, author } = authored;
  const revisions = await listRevisions(review);
  if (revisions[0]?.id !== currentRevision(review)) return {};
  const record = reviewRecord(review, revisions);
  const user = pick(author, ['id', 'display_name', 'karma']);
  return { change: { ...change, review: record }, user };
}

const seal = (cursor: FeedCursor) => sealCursor(binding, cursor);
