import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller, pageParameters } from '../shared/http/request.ts';
import { listOwnReviews } from '../shared/review/own-reviews.ts';
import { isDraft, presentReview } from '../shared/review/review.ts';

export const request = v.object({ caller: Caller, query: v.object(pageParameters) });

export const handler = endpoint(request, async ({ caller, query: { limit, offset } }) => {
  const { count, reviews } = await listOwnReviews(caller.user_id, limit, offset);
  return {
    count,
    limit,
    offset,
    reviews: reviews.map(({ review, author }) => ({
      ...presentReview(review, author),
      is_draft: isDraft(review),
      is_hidden: review.is_hidden,
    })),
  };
});
