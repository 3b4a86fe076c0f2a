import * as v from 'valibot';
import { httpDate } from '../time.ts';

/** A user's one vote on a review, as it is stored. */
export const Vote = v.object({
  review_id: v.string(),
  user_id: v.string(),
  /** True is an upvote, false a downvote. */
  vote: v.boolean(),
  /** When it was last cast; ISO 8601. */
  voted_at: v.string(),
  /** The revision that was current then, and which counts it. */
  revision: v.number(),
});
export type Vote = v.InferOutput<typeof Vote>;

/** The Vote of spec section 2. */
export function presentVote({ vote, voted_at }: Vote) {
  return { vote, voted_at: httpDate(voted_at) };
}

/** Numbers of votes, as reviews and revisions count them. */
export interface Tally {
  votes_positive: number;
  votes_negative: number;
}

/** What a vote adds to a review or revision. */
export function tally({ vote }: Pick<Vote, 'vote'>): Tally {
  return { votes_positive: vote ? 1 : 0, votes_negative: vote ? 0 : 1 };
}
