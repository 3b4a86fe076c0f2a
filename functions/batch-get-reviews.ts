import * as v from 'valibot';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { BulkIds, BulkQueryString } from '../shared/http/request.ts';
import { ReviewsById } from '../shared/review/presented.ts';
import { presentReview } from '../shared/review/review.ts';
import { findPublicReviews } from '../shared/review/review-repository.ts';

export const request = v.object({
  query_string: BulkQueryString,
  query: v.object({ review_ids: BulkIds(25) }),
});

export const response = ReviewsById;

export const docs = {
  tag: 'Reviews',
  summary: 'Read several reviews',
  description: 'What is hidden, or no review, is left out of both parts of the answer.',
  fields: {
    review_ids:
      'At most 25 ids, separated by commas. A UUID may be in any case, with hyphens or without, in braces or after `urn:uuid:`',
  },
  errors: {
    invalid_request: 'There is no id or there are more than 25, or one is no UUID.',
    service_unavailable: 'The query string has more than 4096 characters, or the service is busy.',
  },
} satisfies Docs<typeof request>;

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
