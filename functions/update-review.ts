import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { bodyOf, Caller, IfMatch, optional, PathId } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { Rating, ReviewText } from '../shared/review/review.ts';
import { updateReview } from '../shared/review/review-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
  if_match: IfMatch,
  body: bodyOf({
    text: v.nullish(ReviewText),
    rating: v.nullish(Rating),
    is_draft: optional(v.boolean('must be true or false')),
  }),
});

export const handler = endpoint(request, async ({ caller, path, if_match, body }) => {
  await updateReview(path.review_id, caller.user_id, body, if_match);
  return { ...processed, review: { id: path.review_id } };
});
