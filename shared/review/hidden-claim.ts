import * as v from 'valibot';
import { entityTypes } from '../entity/entity-type.ts';
import { claimKey } from '../table/keys.ts';
import type { Review } from './review.ts';

/** The claim of a review that its author has deleted while it was hidden, as it is stored. It keeps the author from publishing another one. */
export const HiddenClaim = v.object({
  user_id: v.string(),
  entity_id: v.string(),
  entity_type: v.picklist(entityTypes),
  /** The review that is gone. */
  review_id: v.string(),
  /** When it was deleted; ISO 8601. */
  marked_at: v.string(),
});
export type HiddenClaim = v.InferOutput<typeof HiddenClaim>;

/** The item that takes the place of a review's claim when the author deletes the hidden review. */
export function hiddenClaimItem({ id, user_id, entity_id, entity_type }: Review) {
  const marked_at = new Date().toISOString();
  const claim: HiddenClaim = { user_id, entity_id, entity_type, review_id: id, marked_at };
  const listed = { author: `HIDDEN#${user_id}`, date: `${marked_at}#${entity_id}` };
  return { ...claimKey(user_id, entity_id), ...listed, ...claim };
}
