import { hash } from 'node:crypto';
import * as v from 'valibot';
import { isOwnType } from '../entity/entity-type.ts';
import { recordKey, whereNamed } from '../entity/record.ts';
import { accessDenied, invalidRequest, notFound, preconditionFailed } from '../errors.ts';
import { getItems } from '../table/batch.ts';
import type { Entry, Item } from '../table/item.ts';
import { caseKey, claimKey, idIn, reviewKey, userKey } from '../table/keys.ts';
import { parseItems } from '../table/parse.ts';
import { getItem } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { spendWriting } from '../user/daily-limit.ts';
import { parseUsers, User } from '../user/user.ts';
import { findUser, findUsers } from '../user/user-repository.ts';
import { checkWriter, writeAs } from '../user/writer.ts';
import { Case, newCase, openCarried, openHeld } from './case.ts';
import { holdIfNew } from './newcomer.ts';
import { currentRevision, isDraft, isHeld, isPublic, Review } from './review.ts';
import { countWrites, entityWrites, publication, removal, replaceReview } from './review-writes.ts';
import { revisionItem, revisionOf } from './revision.ts';
import { hasNeeded, isSameWritten, type Written, withChange } from './written.ts';

// Reviews in the table: reading, publishing, changing and deleting them.

export interface AuthoredReview {
  review: Review;
  author: User;
}

/** Changes by the author. Undefined keeps a field, null removes it. */
export interface ReviewChange extends Partial<Written> {
  is_draft?: boolean;
}

/** Returns a public review. Throws ApiError 404 for a draft, hidden or deleted one, or author. */
export async function getPublicReview(id: string): Promise<AuthoredReview> {
  const review = await findReview(id);
  const author = review && isPublic(review) && (await findUser(review.user_id));
  if (!author) throw notFound('Review');
  return { review, author };
}

/** Returns a review of this author, public or not. Throws ApiError 404 if there is none. */
export async function getReviewBy(userId: string, id: string): Promise<Review> {
  const review = await findReview(id);
  if (review?.user_id !== userId || review.deleted_at !== undefined) throw notFound('Review');
  return review;
}

/** Attributes of a page. Index attributes would add half of what is sent and parsed. */
const shown = [
  ...new Set([...Object.keys(Review.entries), ...Object.keys(User.entries), 'deleted_at']),
];

/**
 * Returns the reviews of at most 50 index entries with authors, in one round trip and their order.
 * Leaves out those that do not exist. A review that moved in an index meanwhile is returned once.
 */
export async function findReviews(
  entries: readonly Pick<Entry, 'pk' | 'user_id'>[],
): Promise<AuthoredReview[]> {
  const ids = [...new Set(entries.map(idIn))];
  const userIds = [...new Set(entries.map(({ user_id = '' }) => user_id))];
  const keys = [...ids.map(reviewKey), ...userIds.map(userKey)];
  const items = await getItems(keys, { attributes: shown });
  const authors = parseUsers(items.slice(ids.length));
  const byId = new Map(authors.map((author) => [author.id, author]));
  return withAuthors(parseItems(Review, items.slice(0, ids.length)), byId);
}

/** Reads as `findReviews` does. Leaves out reviews that are not public: an index may be behind. */
export async function findListed(entries: readonly Entry[]): Promise<AuthoredReview[]> {
  return (await findReviews(entries)).filter(({ review }) => isPublic(review));
}

/** Returns the public reviews among at most 100 distinct ids, with authors. */
export async function findPublicReviews(ids: readonly string[]): Promise<AuthoredReview[]> {
  const options = { consistent: true, attributes: shown };
  const items = await getItems(ids.map(reviewKey), options);
  const reviews = parseItems(Review, items).filter(isPublic);
  const userIds = [...new Set(reviews.map(({ user_id }) => user_id))];
  return withAuthors(reviews, await findUsers(userIds, options));
}

/**
 * Returns the public reviews among at most 100 changed ones, with authors, at these versions or
 * later. Reads replicas, which cost half, and again what is behind there.
 */
export async function findChangedReviews(
  changes: readonly { id: string; version: number; kind: string }[],
): Promise<AuthoredReview[]> {
  const options = { attributes: shown };
  const items = await getItems(
    changes.map(({ id }) => reviewKey(id)),
    options,
  );
  const isBehind = items.map((item, i) => {
    const { version = 0, kind } = changes[i] ?? {};
    return item ? Number(item.version) < version : kind !== 'removed';
  });
  const behind = changes.filter((_, i) => isBehind[i]).map(({ id }) => reviewKey(id));
  const again = await getItems(behind, { ...options, consistent: true });
  const current = [...items.filter((_, i) => !isBehind[i]), ...again];
  const reviews = parseItems(Review, current).filter(isPublic);
  const userIds = [...new Set(reviews.map(({ user_id }) => user_id))];
  const authors = await findUsers(userIds, options);
  // A replica may lack the account too, and no later change would tell of the review.
  const missing = userIds.filter((id) => !authors.has(id));
  const late = await findUsers(missing, { ...options, consistent: true });
  return withAuthors(reviews, new Map([...authors, ...late]));
}

/**
 * Stores a new review and the writes in `also`. Throws ApiError 400 if the author already has one
 * of this entity, 401 if the author was deleted, 403 if blocked, or after deleting a hidden one.
 * Throws 403 as well when the day's publications (UTC) are used up. Returns the review as stored:
 * that of a newcomer may be held.
 */
export async function insertReview(sent: Review, also: readonly Write[] = []): Promise<Review> {
  const { user_id, entity_id } = sent;
  const review = isDraft(sent) ? sent : await holdIfNew(sent);
  const isClaimed = invalidRequest('entity_id must be an entity that you have not reviewed yet');
  await writeAs(user_id, async (writer) => {
    const insert = (reported?: Item) =>
      transact([
        ...publication(review, { claimed: isClaimed, writer, reported }),
        ...exists(review),
        ...also,
        ...spendWriting('publications', user_id),
      ]);
    try {
      await insert();
    } catch (error) {
      const claim = error === isClaimed && (await getItem(claimKey(user_id, entity_id)));
      if (!claim) throw error;
      if (claim.marked_at !== undefined) {
        throw accessDenied('A moderator has hidden your review of this');
      }
      if (claim.reported === undefined) throw error;
      await insert(claim);
    }
  });
  return review;
}

/** Of a type of this service, only what people have added here can be reviewed. */
function exists(review: Review): Write[] {
  if (!isOwnType(review.entity_type)) return [];
  const otherwise = invalidRequest('entity_id must be of something that was added here');
  return [{ ConditionCheck: { Key: recordKey(review), ...whereNamed }, otherwise }];
}

/**
 * Changes a user's own review; a change of a written field adds a revision. Throws ApiError 404 if
 * the user can see no such review, 403 if it is another's or the account is blocked. Throws 412 if
 * its tag is not in `revisionTags`, 400 if the result would be invalid. Throws 403 as well when the
 * day's edits (UTC) are used up. Publishing a draft is an edit.
 */
export async function updateReview(
  id: string,
  userId: string,
  change: ReviewChange,
  revisionTags?: readonly string[],
): Promise<void> {
  await writeAs(userId, (writer) =>
    retryStale(async () => {
      const before = await getOwnReview(id, userId, revisionTags);
      if (before.deleted_at !== undefined) throw notFound('Review');
      const changed = applyChange(before, change);
      const isPublication = isDraft(before) && !isDraft(changed);
      const after = isPublication ? await holdIfNew(changed) : changed;
      // An unchanged review still needs an account that may write.
      if (after === before) return transact([checkWriter(userId, writer)]);
      const isHolding = isPublication && isHeld(after);
      const reported = isPublic(after) || isHolding ? before.reported : undefined;
      const writes = [
        replaceReview(before, reported ? { ...after, reported: undefined } : after),
        ...countWrites(before, after, writer),
        ...spendWriting('edits', userId),
      ];
      if (after.edits > before.edits) {
        writes.push({ Put: { Item: revisionItem(revisionOf(before)) } });
      }
      if (isHolding || reported) {
        const previous = (await findCase(id)) ?? newCase(before);
        if (isHolding) writes.push(openHeld(previous, `${after.published_on}`, reported));
        else if (reported) writes.push(openCarried(previous, reported));
      }
      await transact(writes);
    }),
  );
}

/** Deletes a review, and later its revisions, votes and reports. Throws like `updateReview`. */
export async function deleteReview(
  id: string,
  userId: string,
  revisionTags?: readonly string[],
): Promise<void> {
  const read = () => getOwnReview(id, userId, revisionTags);
  await writeAs(userId, (writer) =>
    remove(id, read, (before, after) => countWrites(before, after, writer)),
  );
}

/** Deletes a review of an account being erased: its counts no longer matter. See `eraseWhile`. */
export async function eraseReview(id: string, isGone: Write): Promise<void> {
  const counts: typeof countWrites = (before, after) => [...entityWrites(before, after), isGone];
  await remove(id, () => findReview(id), counts);
}

/** Completes a deletion that stopped after the first of two steps. Other reviews stay. */
export async function finishDeletion(id: string): Promise<void> {
  const review = await findReview(id);
  if (review?.deleted_at === undefined) return;
  const author = await findUser(review.user_id);
  await remove(id, () => findReview(id), author ? countWrites : entityWrites);
}

/** Returns the tag for If-Match. It leaves out votes and names, which must not prevent an edit. */
export function revisionTagOf(review: Pick<Review, 'id' | 'edits'>): string {
  return hash('sha256', `${review.id} ${currentRevision(review)}`, 'base64url').slice(0, 11);
}

/**
 * Deletes the review that `read` returns, if any. The author's karma needs its exact popularity,
 * which frequent votes keep changing: then the review is first withdrawn, which stops votes. If the
 * second step fails, the eraser sees the withdrawn review in the stream and finishes.
 */
async function remove(
  id: string,
  read: () => Promise<Review | undefined>,
  counts: (before: Review, after: Review | undefined) => Write[],
): Promise<void> {
  /** The review as the attempt before has read or withdrawn it. */
  let previous: Review | undefined;
  await retryStale(async () => {
    // Once withdrawn, others may finish the deletion. That is no error.
    let [review, moderationCase] = await Promise.all([
      previous?.deleted_at === undefined ? read() : findReview(id),
      findCase(id),
    ]);
    if (review && isPublic(review) && previous && previous.popularity !== review.popularity) {
      const withdrawn = { ...review, is_hidden: true, deleted_at: new Date().toISOString() };
      await transact([replaceReview(review, withdrawn), ...counts(review, withdrawn)]);
      previous = withdrawn;
      [review, moderationCase] = await Promise.all([findReview(id), findCase(id)]);
    }
    if (!review) return;
    previous = review;
    await transact([...removal(review, moderationCase), ...counts(review, undefined)]);
  });
}

async function findReview(id: string): Promise<Review | undefined> {
  const item = await getItem(reviewKey(id));
  return item && v.parse(Review, item);
}

async function findCase(reviewId: string): Promise<Case | undefined> {
  const item = await getItem(caseKey(reviewId));
  return item && v.parse(Case, item);
}

async function getOwnReview(id: string, userId: string, revisionTags?: readonly string[]) {
  const review = await findReview(id);
  const isOwn = review?.user_id === userId;
  if (!review || !(isOwn || isPublic(review))) throw notFound('Review');
  if (!isOwn) throw accessDenied('Only its author may change or delete a review');
  if (revisionTags && !revisionTags.includes(revisionTagOf(review))) {
    throw preconditionFailed('The review');
  }
  return review;
}

/** Returns the changed review, or the same object if nothing changes. */
function applyChange(before: Review, { is_draft, ...change }: ReviewChange): Review {
  const written = withChange(before, change);
  if (!hasNeeded(written)) throw invalidRequest('text or rating must remain');
  if (is_draft && before.published_on !== null) {
    throw invalidRequest('is_draft must be false: a published review cannot become a draft again');
  }
  const now = new Date().toISOString();
  const isEdit = !isSameWritten(before, written);
  const isPublication = is_draft === false && before.published_on === null;
  if (!isEdit && !isPublication) return before;
  const after = { ...before };
  if (isEdit) {
    Object.assign(after, written);
    after.edits += 1;
    after.last_updated = now;
    after.revision_votes_positive = 0;
    after.revision_votes_negative = 0;
  }
  if (isPublication) after.published_on = now;
  return after;
}

function withAuthors(reviews: readonly Review[], authors: ReadonlyMap<string, User>) {
  return reviews.flatMap((review) => {
    const author = authors.get(review.user_id);
    return author ? [{ review, author }] : [];
  });
}
