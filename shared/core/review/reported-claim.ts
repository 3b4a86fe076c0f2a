import * as v from 'valibot';
import { StoredEntityType } from '../entity/entity-type.ts';
import { claimKey } from '../keys.ts';
import { Carried } from './case.ts';
import type { Review } from './review.ts';

// The claim of a user on an entity remains when a review with undecided reports is deleted, so that
// the author's next review of the entity gets the reports.

/** A review that its author deleted, alone or with the account, while reports were undecided. */
export const ReportedMark = v.object({
  entity_id: v.string(),
  entity_type: StoredEntityType,
  review_id: v.string(),
  /** The reports, which open the case of the author's next review of the entity. */
  reported: Carried,
  /** Time of the deletion; ISO 8601. */
  left_at: v.string(),
});
export type ReportedMark = v.InferOutput<typeof ReportedMark>;

/** The claim of such a review. Its author may publish another one. */
export const ReportedClaim = v.object({ user_id: v.string(), ...ReportedMark.entries });
export type ReportedClaim = v.InferOutput<typeof ReportedClaim>;

/** Marks a review that is being deleted while these reports are undecided. */
export function reportedMarkOf(
  review: Pick<Review, 'id' | 'entity_id' | 'entity_type'>,
  reported: Carried,
): ReportedMark {
  return {
    entity_id: review.entity_id,
    entity_type: review.entity_type,
    review_id: review.id,
    reported,
    left_at: new Date().toISOString(),
  };
}

/** Returns the item that replaces the claim of such a review. */
export function reportedClaimItem(user_id: string, mark: ReportedMark) {
  return { ...claimKey(user_id, mark.entity_id), user_id, ...mark };
}
