import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller, PathId } from '../shared/http/request.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';
import { presentVote } from '../shared/vote/vote.ts';
import { getVote } from '../shared/vote/vote-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
});

export const handler = endpoint(request, async ({ caller, path }) => {
  await getPublicReview(path.review_id);
  return { vote: presentVote(await getVote(path.review_id, caller.user_id)) };
});
