import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller, ReviewPath } from '../../shared/core/http/request.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { presentVote } from '../../shared/core/vote/vote.ts';
import { getVote } from '../../shared/core/vote/vote-repository.ts';

export { VoteResponse as response } from '../../shared/core/vote/presented.ts';
export const request = v.object({ caller: Caller, path: ReviewPath });

export const docs = {
  tag: 'Votes and reports',
  summary: 'Get your vote',
  description:
    'Your up- or downvote on the review, and its time. Nobody else learns who voted how.',
  errors: {
    not_found: 'The review does not exist or is not public, or the caller has not voted on it.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path }) => {
  await getPublicReview(path.review_id);
  return { vote: presentVote(await getVote(path.review_id, caller.user_id)) };
});
