import * as v from 'valibot';
import { StoredEntityType } from '../entity/entity-type.ts';
import { claimKey } from '../keys.ts';
import type { Review } from './review.ts';

// The claim of a user on an entity remains when a hidden review is deleted, so that hiding cannot
// be undone by deleting and publishing again.

/** A review that its author deleted, alone or with the account, while a moderator had hidden it. */
export const HiddenMark = v.object({
  entity_id: v.string(),
  entity_type: StoredEntityType,
  review_id: v.string(),
  /** ISO 8601. */
  marked_at: v.string(),
});
export type HiddenMark = v.InferOutput<typeof HiddenMark>;

/** The claim of such a review. It keeps the author from publishing another one. */
export const HiddenClaim = v.object({ user_id: v.string(), ...HiddenMark.entries });
export type HiddenClaim = v.InferOutput<typeof HiddenClaim>;

/** Marks a hidden review that is being deleted now. */
export function markOf(review: Pick<Review, 'id' | 'entity_id' | 'entity_type'>): HiddenMark {
  return {
    entity_id: review.entity_id,
    entity_type: review.entity_type,
    review_id: review.id,
    marked_at: new Date().toISOString(),
  };
}

/** Returns the item that replaces the claim of a marked review. */
export function hiddenClaimItem(user_id: string, mark: HiddenMark) {
  const { entity_id, marked_at } = mark;
  return {
    ...claimKey(user_id, entity_id),
    author: `HIDDEN#${user_id}`,
    date: `${marked_at}#${entity_id}`,
    user_id,
    ...mark,
  };
}
