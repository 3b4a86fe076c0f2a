import { type ApiError, invalidToken } from '../errors.ts';
import { pick } from '../pick.ts';
import type { IndexAttributes, Key } from '../table/item.ts';
import { claimKey, entityKey, reviewKey, userKey } from '../table/keys.ts';
import { putNew, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import { countChanges } from './counts.ts';
import { hiddenClaimItem, markOf } from './hidden-claim.ts';
import { listedIn, type Review } from './review.ts';

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
 * withdrawn.
 */
export function removal(review: Review): Write[] {
  const { id, user_id, entity_id } = review;
  const isModerated = review.is_hidden && review.deleted_at === undefined;
  // `deleted_at`: since it was read, the review may have been withdrawn, or deleted and restored.
  const was = pick(review, ['edits', 'is_hidden', 'published_on', 'popularity', 'deleted_at']);
  return [
    { Delete: { Key: reviewKey(id), was } },
    isModerated
      ? { Put: { Item: hiddenClaimItem(user_id, markOf(review)) } }
      : { Delete: { Key: claimKey(user_id, entity_id) } },
  ];
}

/** Returns the writes of a review or draft. They throw `claimed` if its author has another. */
export function publication(review: Review, claimed?: ApiError, writer?: Writer): Write[] {
  const { id, user_id, entity_id } = review;
  return [
    putNew(reviewItem(review)),
    { ...putNew({ ...claimKey(user_id, entity_id), review_id: id }), otherwise: claimed },
    ...countWrites(undefined, review, writer),
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
  const { ConditionExpression, otherwise } = writer;
  const Update = { Key: userKey(user_id), amounts, isOwner: true, ConditionExpression } as const;
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
