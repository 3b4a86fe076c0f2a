import * as v from 'valibot';
import { type ApiError, invalidToken } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import type { IndexAttributes, Item, Key } from '../../base/table/item.ts';
import { putNew, type Write } from '../../base/table/transact.ts';
import { claimKey, countsKey, entityKey, reviewKey, userKey } from '../keys.ts';
import { whereAlive } from '../user/user.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import {
  Carried,
  type Case,
  deleteCase,
  newCase,
  openCarried,
  openHeld,
  undecidedIn,
} from './case.ts';
import { hiddenClaimItem, markOf } from './hidden-claim.ts';
import { changeOfLongText, setApart } from './long-text.ts';
import { countChanges, nonZero } from './owner-counts.ts';
import { reportedClaimItem, reportedMarkOf } from './reported-claim.ts';
import { isDraft, isHeld, isPublic, listedIn, type Review, type WholeReview } from './review.ts';
import { revisionItem, revisionOf } from './revision.ts';

// The writes of a review's transactions, each with everything that it counts.

/** Returns a review as it is stored, with keys and index attributes. */
export function reviewItem(review: Review): Key & IndexAttributes & Review {
  return { ...reviewKey(review.id), ...listedIn(review), ...review };
}

/**
 * Returns the writes that change a stored review. `before` and `after` have the whole text. A new
 * revision stores the one before.
 */
export function changeReview(stored: Review, before: WholeReview, after: WholeReview): Write[] {
  const { review, longText } = setApart(after);
  const isEdit = after.edits > before.edits;
  return [
    replaceReview(stored, review),
    ...changeOfLongText(stored, longText),
    ...(isEdit ? [{ Put: { Item: revisionItem(revisionOf(before)) } }] : []),
  ];
}

/**
 * Returns the write that changes a review, before and after as stored. It depends on the number of
 * votes only if the review enters the order by popularity; otherwise votes may be cast meanwhile.
 */
export function replaceReview(before: Review, after: Review): Write {
  const from: Record<string, unknown> = { ...reviewItem(before) };
  const to: Record<string, unknown> = { ...reviewItem(after) };
  // A review with a long text may have been read again. Then the guards fail, and its version is
  // not another change of the version.
  const changed = Object.keys({ ...from, ...to }).filter(
    (name) => from[name] !== to[name] && name !== 'version',
  );
  const guards = ['edits', 'is_hidden', 'published_on'];
  if (changed.includes('popularity_rank') && to.popularity_rank !== undefined) {
    guards.push('popularity');
  }
  // An edit freezes the votes of the previous revision.
  if (changed.includes('edits')) guards.push('revision_votes_positive', 'revision_votes_negative');
  return {
    Update: {
      Key: reviewKey(before.id),
      set: pick(to, changed),
      amounts: { version: 1 },
      was: pick(from, guards),
    },
  };
}

/**
 * Returns the writes that delete a review and its claim, if nothing that counts depend on has
 * changed. The claim of a review hidden by a moderator stays, marked, unless the review is only
 * withdrawn. The claim of a review with undecided reports stays with these reports.
 */
export function removal(review: Review, moderationCase: Case | undefined): Write[] {
  const isModerated = isHiddenByModerator(review);
  // `deleted_at`: since it was read, the review may have been withdrawn, or deleted and restored.
  const was = pick(review, ['edits', 'is_hidden', 'published_on', 'popularity', 'deleted_at']);
  const writes: Write[] = [
    { Delete: { Key: reviewKey(review.id), was } },
    leaveClaim(review, undecidedOn(review, moderationCase)),
  ];
  // Only a public review is reported, and only a held one has a case before.
  if (!isModerated && !isDraft(review)) writes.push(deleteCase(review.id, moderationCase));
  return writes;
}

/** Deletes or marks the claim of a review that is being deleted. */
function leaveClaim(review: Review, reported: Carried | undefined): Write {
  const { user_id, entity_id } = review;
  if (isHiddenByModerator(review)) {
    return { Put: { Item: hiddenClaimItem(user_id, markOf(review)) } };
  }
  if (reported) {
    return { Put: { Item: reportedClaimItem(user_id, reportedMarkOf(review, reported)) } };
  }
  return { Delete: { Key: claimKey(user_id, entity_id) } };
}

/** Is false for a review that is held, or hidden because its deletion has begun. */
export function isHiddenByModerator(review: Review): boolean {
  return review.is_hidden && review.deleted_at === undefined && !isHeld(review);
}

/** Returns the reports on a review that nobody has decided on. A draft may have brought some. */
export function undecidedOn(review: Review, moderationCase: Case | undefined): Carried | undefined {
  return review.reported ?? (moderationCase && undecidedIn(moderationCase));
}

/**
 * Returns the writes of a review or draft. They throw `claimed` if its author has another. With the
 * claim of a deleted review that was `reported`, they open the case. A draft keeps the reports, and
 * so does a review that an import restores, until all its records are there. A held review opens
 * its case as well, except in an import, which brings the case.
 */
export function publication(
  review: WholeReview,
  {
    claimed,
    writer,
    reported,
    isImport,
  }: { claimed?: ApiError; writer?: Writer; reported?: Item; isImport?: boolean } = {},
): Write[] {
  const { id, user_id, entity_id } = review;
  const claim = { ...claimKey(user_id, entity_id), review_id: id };
  const carried = reported && v.parse(Carried, reported.reported);
  // The records of a restored review may bring some of these reports. `takeUpReports` compares.
  const isRestored = reported?.review_id === id;
  const keepsReports = isDraft(review) || isRestored;
  const was = reported ? pick(reported, ['review_id', 'reported']) : { pk: undefined };
  const apart = setApart(carried && keepsReports ? { ...review, reported: carried } : review);
  const writes: Write[] = [
    putNew(reviewItem(apart.review)),
    ...(apart.longText ? [{ Put: { Item: apart.longText } }] : []),
    { Put: { Item: claim, was }, otherwise: claimed },
    ...countWrites(undefined, review, writer),
  ];
  if (isHeld(review) && !isImport) {
    writes.push(openHeld(newCase(review), review.created, carried));
  } else if (carried && isPublic(review) && !isRestored) {
    writes.push(openCarried(newCase(review), carried));
  }
  return writes;
}

/**
 * Returns the writes that count a change on author and entity. The author must meet the condition
 * of `writer`, by default to exist. `news` are amounts that tell the author something.
 */
export function countWrites(
  before: Review | undefined,
  after: Review | undefined,
  writer: Writer = { where: whereAlive, otherwise: invalidToken() },
  news: Record<string, number> = {},
): Write[] {
  const { user_id, entity_id } = (after ?? before) as Review;
  const { karma, author, entity } = countChanges(before, after);
  return [
    countOnAuthor(user_id, nonZero({ ...news, karma }), writer),
    ...countOn(countsKey(user_id), author),
    ...countOnEntity(after, entity_id, entity),
  ];
}

/** Returns the writes that count a change on the entity. */
export function entityWrites(before: Review | undefined, after: Review | undefined): Write[] {
  const { entity_id } = (after ?? before) as Review;
  return countOnEntity(after, entity_id, countChanges(before, after).entity);
}

/** A change that counts nothing there still needs an author who meets the condition. */
function countOnAuthor(userId: string, amounts: Record<string, number>, writer: Writer): Write {
  if (Object.keys(amounts).length === 0) return checkWriter(userId, writer);
  const { otherwise, ...condition } = writer;
  return { Update: { Key: userKey(userId), amounts, isOwner: true, ...condition }, otherwise };
}

/** Counts on the entity, and dates its first review: lists of the latest things sort by it. */
function countOnEntity(
  review: Review | undefined,
  entityId: string,
  amounts: Record<string, number>,
): Write[] {
  const first_on = review && isPublic(review) ? review.published_on : undefined;
  return countOn(entityKey(entityId), amounts, first_on === undefined ? {} : { first_on });
}

function countOn(
  Key: Key,
  amounts: Record<string, number>,
  begin: Record<string, unknown> = {},
): Write[] {
  return Object.keys(amounts).length > 0
    ? [{ Update: { Key, amounts, begin, isOwner: true } }]
    : [];
}
