import * as v from 'valibot';
import { described, HttpDate } from '../described.ts';

export const PresentedVote = described(
  v.object({
    vote: described(v.boolean(), '`true` is an upvote, `false` a downvote', true),
    voted_at: HttpDate('When it was last cast'),
  }),
  "The caller's vote on a review",
);
export type PresentedVote = v.InferOutput<typeof PresentedVote>;

export const VoteResponse = v.object({ vote: PresentedVote });
