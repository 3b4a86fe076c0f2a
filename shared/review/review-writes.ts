import { type ApiError, invalidToken } from '../errors.ts';
import type { IndexAttributes, Key } from '../table/item.ts';
import { claimKey, entityKey, reviewKey, userKey } from '../table/keys.ts';
import { putNew, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import { countChanges } from './counts.ts';
import { hiddenClaimItem, markOf } from './hidden-claim.ts';
import { listedIn, type Review } from './review.ts';

/** The item of a review. */
export function reviewItem(review: Review): Key & IndexAttributes & Review {
  return { ...reviewKey(review.id), ...listedIn(review), ...review };
}

/**
 * Writes what differs between two states of a review. Votes may be cast meanwhile: only if the order by popularity is entered
 * does the write depend on their number.
 */
export function replaceReview(before: Review, after: Review): Write {
  const from: Record<string, unknown> = { ...reviewItem(before) };
  const to: Record<string, unknown> = { ...reviewItem(after) };
  const changed = Object.keys({ ...from, ...to }).filter((name) => from[name] !== to[name]);
  const isEntered = changed.includes('popularity_rank') && to.popularity_rank !== undefined;
  const guards = [
    'edits',
    'is_hidden',
    'published_on',
    ...(isEntered ? ['popularity'] : []),
    // An edit freezes the votes of the revision before.
    ...(changed.includes('edits') ? ['revision_votes_positive', 'revision_votes_negative'] : []),
  ];
  const only = (state: Record<string, unknown>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, state[name]]));
  return {
    Update: {
      Key: reviewKey(before.id),
      set: only(to, changed),
      amounts: { version: 1 },
      was: only(from, guards),
    },
  };
}

/**
 * Deletes a review as it was read, as far as the counts depend on it, and its claim. That of a
 * review which a moderator has hidden stays, marked. One that is only withdrawn, on its way to
 * deletion, is not such a review.
 */
export function removal(review: Review): Write[] {
  const { id, user_id, entity_id, edits, is_hidden, published_on, popularity, deleted_at } = review;
  const isModerated = is_hidden && deleted_at === undefined;
  const was = {
    ...{ edits, is_hidden, published_on, popularity },
    // What was withdrawn may have been deleted and restored since it was read.
    ...(deleted_at !== undefined && { deleted_at }),
  };
  return [
    { Delete: { Key: reviewKey(id), was } },
    isModerated
      ? { Put: { Item: hiddenClaimItem(user_id, markOf(review)) } }
      : { Delete: { Key: claimKey(user_id, entity_id) } },
  ];
}

/**
 * Publishes a review, or writes a draft: the review, the claim of its author on its entity, and all
 * that is counted of it. Throws `claimed` where the author has another one of the entity.
 */
export function publication(review: Review, claimed?: ApiError, writer?: Writer): Write[] {
  const { id, user_id, entity_id } = review;
  return [
    putNew(reviewItem(review)),
    { ...putNew({ ...claimKey(user_id, entity_id), review_id: id }), otherwise: claimed },
    ...countWrites(undefined, review, writer),
  ];
}

/** What a change of a review does to its author, who must still be there, or what the writer is held to, and to its entity. */
export function countWrites(
  before: Review | undefined,
  after: Review | undefined,
  writer: Writer = { ConditionExpression: isAlive, otherwise: invalidToken() },
): Write[] {
  const { user_id } = (after ?? before) as Review;
  const counts = countChanges(before, after).author;
  const { ConditionExpression, otherwise } = writer;
  return [
    Object.keys(counts).length > 0
      ? {
          Update: { Key: userKey(user_id), amounts: counts, isOwner: true, ConditionExpression },
          otherwise,
        }
      : checkWriter(user_id, writer),
    ...entityWrites(before, after),
  ];
}

/** What a change of a review does to its entity. */
export function entityWrites(before: Review | undefined, after: Review | undefined): Write[] {
  const { entity_id } = (after ?? before) as Review;
  const counts = countChanges(before, after).entity;
  return Object.keys(counts).length > 0
    ? [{ Update: { Key: entityKey(entity_id), amounts: counts, isOwner: true } }]
    : [];
}
