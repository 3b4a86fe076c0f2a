import { accessDenied, invalidRequest, notFound, preconditionFailed } from '../../base/errors.ts';
import type { Item } from '../../base/table/item.ts';
import { findItem } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import { retryStale, StaleRead, transact, type Write } from '../../base/table/transact.ts';
import { isOwnType } from '../entity/entity-type.ts';
import { recordKey, whereNamedFor } from '../entity/record.ts';
import { caseKey, claimKey, entityKey } from '../keys.ts';
import { spendWriting } from '../user/daily-limit.ts';
import { findUser } from '../user/user-repository.ts';
import { checkWriter, writeAs } from '../user/writer.ts';
import {
  Case,
  closeWaiting,
  newCase,
  openCarried,
  openHeld,
  openUnreported,
  openWaiting,
} from './case.ts';
import { findWhole } from './long-text.ts';
import { holdIfNew, textToHold } from './newcomer.ts';
import { countsIn } from './owner-counts.ts';
import { findReview } from './read-reviews.ts';
import { isDraft, isHeld, isPublic, type Review, revised, type WholeReview } from './review.ts';
import {
  changeReview,
  countWrites,
  entityWrites,
  publication,
  removal,
  replaceReview,
} from './review-writes.ts';
import { revisionTagOf } from './revision-tag.ts';
import { dropWaiting, findLatestWritten, putWaiting } from './waiting.ts';
import { hasNeeded, isSameWritten, type Written, withChange } from './written.ts';

// Writes of reviews: publishing, changing and deleting them.

/** Changes by the author. Undefined keeps a field, null removes it. */
export interface ReviewChange extends Partial<Written> {
  is_draft?: boolean;
}

/**
 * Stores a new review, and by the writes in `naming` the name of its thing. The writes in `spent`
 * count it for the day. Throws ApiError 400 if the author already has one of this entity, 401 if
 * the author was deleted, 403 if blocked, or after deleting a hidden one. Throws 403 as well when
 * the day's publications (UTC) are used up. Returns the review as stored: that of a newcomer may be
 * held.
 */
export async function insertReview(
  sent: WholeReview,
  naming: readonly Write[] = [],
  spent = spendWriting('publications', sent.user_id),
): Promise<WholeReview> {
  const { user_id, entity_id } = sent;
  const [review, isOfRemoved] = isDraft(sent)
    ? [sent, false]
    : await Promise.all([holdIfNew(sent), isFirstOfRemoved(sent)]);
  const isClaimed = invalidRequest('entity_id must be an entity that you have not reviewed yet');
  await writeAs(user_id, async (writer) => {
    const insert = (reported?: Item) =>
      transact([
        ...publication(review, { claimed: isClaimed, writer, reported }),
        ...(isOfRemoved && isPublic(review) && !reported
          ? [openUnreported(newCase(review), review.created)]
          : []),
        ...(naming.length > 0 ? naming : exists(review)),
        ...spent,
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

/**
 * Returns true for the first public review of a thing that a moderator has removed. Anybody may
 * review it, and moderators look at it again.
 */
async function isFirstOfRemoved(review: Review): Promise<boolean> {
  // Nobody can review what has no name and is of a type of this service.
  if (isOwnType(review.entity_type)) return false;
  const item = await getItem(recordKey(review), { consistent: false });
  if (item?.state !== 'removed') return false;
  return !countsIn(await getItem(entityKey(review.entity_id))).types.has(review.entity_type);
}

/**
 * Of a type of this service, only what people have added here can be reviewed, and by its author
 * alone while the name waits for a moderator.
 */
function exists(review: Review): Write[] {
  if (!isOwnType(review.entity_type)) return [];
  const otherwise = invalidRequest('entity_id must be of something that was added here');
  const where = whereNamedFor(review.user_id);
  return [{ ConditionCheck: { Key: recordKey(review), where }, otherwise }];
}

/**
 * Changes a user's own review; a change of a written field adds a revision. The text of a newcomer
 * waits for a moderator, while the review stays as it is. Returns the review as stored. Throws
 * ApiError 404 if the user can see no such review, 403 if it is another's or the account is
 * blocked. Throws 412 if its tag is not in `revisionTags`, 400 if the result would be invalid.
 * Throws 403 as well when the day's edits (UTC) are used up. Publishing a draft is an edit. A form
 * cannot send every text: one that is the same `asShown` in the form stays.
 */
export async function updateReview(
  id: string,
  userId: string,
  sent: ReviewChange,
  revisionTags?: readonly string[],
  asShown?: (text: string) => string,
): Promise<Review> {
  return writeAs(userId, (writer) =>
    retryStale(async () => {
      const stored = await getOwnReview(id, userId, revisionTags);
      if (stored.deleted_at !== undefined) throw notFound('Review');
      const before = await findWhole(stored);
      if (!before) throw new StaleRead();
      const change = asShown ? await unlessShown(before, sent, asShown) : sent;
      const held = await textToHold(before, change);
      const changed = applyChange(
        before,
        held === undefined ? change : { ...change, text: undefined },
      );
      const isPublication = isDraft(before) && !isDraft(changed);
      const published = isPublication ? await holdIfNew(changed) : changed;
      const waiting = await changeOfWaiting(before, change, held);
      const after = waiting ? { ...published, waiting_since: waiting.since } : published;
      // An unchanged review still needs an account that may write.
      if (after === before) {
        await transact([checkWriter(userId, writer)]);
        return after;
      }
      const isHolding = isPublication && isHeld(after);
      const reported = isPublic(after) || isHolding ? before.reported : undefined;
      const writes = [
        ...changeReview(stored, before, reported ? { ...after, reported: undefined } : after),
        ...countWrites(before, after, writer),
        ...(isPublication ? exists(after) : []),
        ...spendWriting('edits', userId),
      ];
      const isOfRemoved = isPublication && isPublic(after) && (await isFirstOfRemoved(after));
      if (isHolding || reported || waiting || isOfRemoved) {
        const previous = (await findCase(id)) ?? newCase(before);
        if (isHolding) writes.push(openHeld(previous, `${after.published_on}`, reported));
        else if (reported) writes.push(openCarried(previous, reported));
        else if (waiting) writes.push(...waitingWrites(before, previous, waiting));
        else writes.push(openUnreported(previous, `${after.published_on}`));
      }
      await transact(writes);
      return after;
    }),
  );
}

/** Returns the change with the text as it is stored, if the form shows what was sent alike. */
async function unlessShown(
  before: WholeReview,
  sent: ReviewChange,
  asShown: (text: string) => string,
): Promise<ReviewChange> {
  const { text } = await findLatestWritten(before);
  const isSame = text !== null && sent.text && asShown(text) === asShown(sent.text);
  return isSame ? { ...sent, text } : sent;
}

/** The text that waits from now on, or none any more. */
type Waiting = { text: string; since: string } | { text?: undefined; since?: undefined };

/**
 * Returns what waits after a change of which the text `held` has to wait. Any other text that the
 * author sends takes the place of one that waits. Undefined if nothing changes about it.
 */
async function changeOfWaiting(
  before: WholeReview,
  { text }: ReviewChange,
  held: string | undefined,
): Promise<Waiting | undefined> {
  const isWaiting = before.waiting_since !== undefined;
  if (held === undefined) return isWaiting && text !== undefined ? {} : undefined;
  if (isWaiting && (await findLatestWritten(before)).text === held) return undefined;
  return { text: held, since: new Date().toISOString() };
}

/** Returns the writes of a text that waits, or waits no longer, and of the case. */
function waitingWrites(review: Review, before: Case, waiting: Waiting): Write[] {
  if (waiting.text === undefined) return [dropWaiting(review), closeWaiting(before)];
  return [putWaiting(review, waiting.text), openWaiting(before, waiting.since)];
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

function findCase(reviewId: string): Promise<Case | undefined> {
  return findItem(Case, caseKey(reviewId));
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
function applyChange(before: WholeReview, { is_draft, ...change }: ReviewChange): WholeReview {
  const written = withChange(before, change);
  if (!hasNeeded(written)) throw invalidRequest('text or rating must remain');
  if (is_draft && before.published_on !== null) {
    throw invalidRequest('is_draft must be false: a published review cannot become a draft again');
  }
  const now = new Date().toISOString();
  const isEdit = !isSameWritten(before, written);
  const isPublication = is_draft === false && before.published_on === null;
  if (!isEdit && !isPublication) return before;
  const after = isEdit ? revised(before, written, now) : before;
  return isPublication ? { ...after, published_on: now } : after;
}
