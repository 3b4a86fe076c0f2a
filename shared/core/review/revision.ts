import * as v from 'valibot';
import { httpDate } from '../../base/time.ts';
import { revisionKey } from '../keys.ts';
import type { PresentedRevision } from './presented.ts';
import { currentRevision, type WholeReview } from './review.ts';
import { Written, writtenIn } from './written.ts';

/** Number of a revision: the first is 1. */
export const RevisionNumber = v.pipe(v.number(), v.integer(), v.minValue(1));

/** One state of what is written in a review, as stored. Times are ISO 8601. */
export const Revision = v.object({
  review_id: v.string(),
  id: RevisionNumber,
  ...Written.entries,
  timestamp: v.string(),
  votes_positive: v.number(),
  votes_negative: v.number(),
});
export type Revision = v.InferOutput<typeof Revision>;

/** Returns the current revision, which is stored on the review itself. */
export function revisionOf(review: WholeReview): Revision {
  return {
    review_id: review.id,
    id: currentRevision(review),
    ...writtenIn(review),
    timestamp: review.last_updated,
    votes_positive: review.revision_votes_positive,
    votes_negative: review.revision_votes_negative,
  };
}

/** Returns a revision as it is stored. */
export function revisionItem(revision: Revision) {
  return { ...revisionKey(revision.review_id, revision.id), ...revision };
}

/** Presents a revision. Its time becomes an HTTP date. */
export function presentRevision(revision: Revision): PresentedRevision {
  return { ...revision, timestamp: httpDate(revision.timestamp) };
}
