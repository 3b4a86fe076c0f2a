import * as v from 'valibot';
import { httpDate } from '../time.ts';
import type { PresentedVote } from './presented.ts';

/** A user's only vote on a review, as stored. */
export const Vote = v.object({
  review_id: v.string(),
  user_id: v.string(),
  /** True is an upvote, false a downvote. */
  vote: v.boolean(),
  /** When it was last cast; ISO 8601. */
  voted_at: v.string(),
  /** The revision that was current then and counts the vote. */
  revision: v.number(),
});
export type Vote = v.InferOutput<typeof Vote>;

/** Presents a vote. Its time becomes an HTTP date. */
export function presentVote({ vote, voted_at }: Vote): PresentedVote {
  return { vote, voted_at: httpDate(voted_at) };
}
