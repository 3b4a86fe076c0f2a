import * as v from 'valibot';
import { httpDate } from '../../base/time.ts';
import { StoredId, StoredTime } from '../../base/values.ts';
import { RevisionNumber } from '../review/revision.ts';
import type { PresentedVote } from './presented.ts';

/** A user's only vote on a review, as stored. */
export const Vote = v.object({
  review_id: StoredId,
  user_id: StoredId,
  /** True is an upvote, false a downvote. */
  vote: v.boolean(),
  /** Time of the last cast. */
  voted_at: StoredTime,
  /** The revision that was current then and counts the vote. */
  revision: RevisionNumber,
});
export type Vote = v.InferOutput<typeof Vote>;

/** Presents a vote. Its time becomes an HTTP date. */
export function presentVote({ vote, voted_at }: Vote): PresentedVote {
  return { vote, voted_at: httpDate(voted_at) };
}
