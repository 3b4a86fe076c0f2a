import * as v from 'valibot';
import { described, Fields, HttpDate } from '../../base/described.ts';

export const PresentedVote = Fields("The caller's vote on a review", {
  vote: described(v.boolean(), '`true` is an upvote, `false` a downvote', true),
  voted_at: HttpDate('When it was last cast'),
});
export type PresentedVote = v.InferOutput<typeof PresentedVote>;

export const VoteResponse = v.object({ vote: PresentedVote });
