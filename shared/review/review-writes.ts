import * as v from 'valibot';
import { type ApiError, invalidToken } from '../errors.ts';
import { pick } from '../pick.ts';
import type { IndexAttributes, Item, Key } from '../table/item.ts';
import { claimKey, entityKey, reviewKey, userKey } from '../table/keys.ts';
import { putNew, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import { Carried, type Case, deleteCase, newCase, openCarried, undecidedIn } from './case.ts';
import { countChanges } from './counts.ts';
import { hiddenClaimItem, markOf } from './hidden-claim.ts';
import { reportedClaimItem, reportedMarkOf } from './reported-claim.ts';
import { isDraft, isPublic, listedIn, type Review } from './review.ts';

/** Returns a review as it is stored, with keys and index attributes. */
export function reviewItem(review: Review): Key & IndexAttributes & Review {
  return { ...reviewKey(review.id), ...listedIn(review), ...review };
}

/**
 * Returns the write that changes a review. It depends on the number of votes only if the review
 * enters the order by popularity; otherwise votes may be cast meanwhile.
 */
export function replaceReview(before: Review, after: Review): Write {
  const from: Record<string, unknown> = { ...reviewItem(before) };
  const to: Record<string, unknown> = { ...reviewItem(after) };
  const changed = Object.keys({ ...from, ...to }).filter((name) => from[name] !== to[name]);
  const isEntered = changed.includes('popularity_rank') && to.popularity_rank !== undefined;
  const guards = [
    ...['edits', 'is_hidden', 'published_on'],
    ...(isEntered ? ['popularity'] : []),
    // An edit freezes the votes of the previous revision.
    ...(changed.includes('edits') ? ['revision_votes_positive', 'revision_votes_negative'] : []),
  ];
  const [set, was] = [pick(to, changed), pick(from, guards)];
  return { Update: { Key: reviewKey(before.id), set, amounts: { version: 1 }, was } };
}

/**
 * Returns the writes that delete a review and its claim, if nothing that counts depend on has
 * changed. The claim of a review hidden by a moderator stays, marked, unless the review is only
 * withdrawn. The claim of a review with undecided reports stays with these reports.
 */
export function removal(review: Review, moderationCase: Case | undefined): Write[] {
  const { id, user_id, entity_id } = review;
  const isModerated = review.is_hidden && review.deleted_at === undefined;
  const reported = undecidedOn(review, moderationCase);
  // `deleted_at`: since it was read, the review may have been withdrawn, or deleted and restored.
  const was = pick(review, ['edits', 'is_hidden', 'published_on', 'popularity', 'deleted_at']);
  return [
    { Delete: { Key: reviewKey(id), was } },
    isModerated
      ? { Put: { Item: hiddenClaimItem(user_id, markOf(review)) } }
      : reported
        ? { Put: { Item: reportedClaimItem(user_id, reportedMarkOf(review, reported)) } }
        : { Delete: { Key: claimKey(user_id, entity_id) } },
    // Only a public review is reported.
    ...(isModerated || isDraft(review) ? [] : [deleteCase(id, moderationCase)]),
  ];
}

/** Returns the reports on a review that nobody has decided on. A draft may have brought some. */
export function undecidedOn(review: Review, moderationCase: Case | undefined): Carried | undefined {
  return review.reported ?? (moderationCase && undecidedIn(moderationCase));
}

/**
 * Returns the writes of a review or draft. They throw `claimed` if its author has another. With the
 * claim of a deleted review that was `reported`, they open the case. A draft keeps the reports.
 */
export function publication(
  review: Review,
  { claimed, writer, reported }: { claimed?: ApiError; writer?: Writer; reported?: Item } = {},
): Write[] {
  const { id, user_id, entity_id } = review;
  const claim = { ...claimKey(user_id, entity_id), review_id: id };
  const carried = reported && v.parse(Carried, reported.reported);
  const was = reported ? pick(reported, ['review_id', 'reported']) : { pk: undefined };
  return [
    putNew(reviewItem(carried && isDraft(review) ? { ...review, reported: carried } : review)),
    { Put: { Item: claim, was }, otherwise: claimed },
    ...countWrites(undefined, review, writer),
    ...(carried && isPublic(review) ? [openCarried(newCase(review), carried)] : []),
  ];
}

/**
 * Returns the writes that count a change on author and entity. The author must meet the condition
 * of `writer`, by default to exist.
 */
export function countWrites(
  before: Review | undefined,
  after: Review | undefined,
  writer: Writer = { ConditionExpression: isAlive, otherwise: invalidToken() },
): Write[] {
  const { user_id } = (after ?? before) as Review;
  const amounts = countChanges(before, after).author;
  const { otherwise, ...condition } = writer;
  const Update = { Key: userKey(user_id), amounts, isOwner: true, ...condition } as const;
  const isCounted = Object.keys(amounts).length > 0;
  return [
    isCounted ? { Update, otherwise } : checkWriter(user_id, writer),
    ...entityWrites(before, after),
  ];
}

/** Returns the writes that count a change on the entity. */
export function entityWrites(before: Review | undefined, after: Review | undefined): Write[] {
  const { entity_id } = (after ?? before) as Review;
  const amounts = countChanges(before, after).entity;
  if (Object.keys(amounts).length === 0) return [];
  return [{ Update: { Key: entityKey(entity_id), amounts, isOwner: true } }];
}
