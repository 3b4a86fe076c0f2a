import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { BulkIds, BulkQueryString } from '../shared/http/request.ts';
import { presentReview } from '../shared/review/review.ts';
import { findPublicReviews } from '../shared/review/review-repository.ts';

export const request = v.object({
  query_string: BulkQueryString,
  query: v.object({ review_ids: BulkIds(25) }),
});

export const handler = endpoint(request, async ({ query: { review_ids } }) => {
  const reviews = await findPublicReviews([...new Set(review_ids.values())]);
  const found = new Set(reviews.map(({ review }) => review.id));
  return {
    reviews: Object.fromEntries(
      reviews.map(({ review, author }) => [review.id, presentReview(review, author)]),
    ),
    review_id_mapping: Object.fromEntries([...review_ids].filter(([, id]) => found.has(id))),
  };
});
