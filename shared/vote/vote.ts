import * as v from 'valibot';
import { httpDate } from '../time.ts';
import type { PresentedVote } from './presented.ts';

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

/** A user's own vote as the API shows it. */
export function presentVote({ vote, voted_at }: Vote): PresentedVote {
  return { vote, voted_at: httpDate(voted_at) };
}

/** Numbers of votes, as reviews and revisions count them. */
export interface Tally {
  votes_positive: number;
  votes_negative: number;
}

/** What a vote adds to a review or revision; none adds nothing. */
export function tally(cast: Pick<Vote, 'vote'> | undefined): Tally {
  return {
    votes_positive: Number(cast?.vote === true),
    votes_negative: Number(cast?.vote === false),
  };
}

/** What is added to come from one tally to another. */
export function difference(after: Tally, before: Tally): Tally {
  return {
    votes_positive: after.votes_positive - before.votes_positive,
    votes_negative: after.votes_negative - before.votes_negative,
  };
}
