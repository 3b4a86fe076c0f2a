import * as v from 'valibot';
import { invalidRequest } from '../shared/errors.ts';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ReviewsById } from '../shared/review/presented.ts';
import { presentReview } from '../shared/review/review.ts';
import { findPublicReviews } from '../shared/review/review-repository.ts';
import { canonicalUuid } from '../shared/values.ts';

const maxIds = 25;

export const request = v.object({
  query_string: v.pipe(v.string(), v.maxLength(4096, 'may have at most 4096 characters')),
  query: v.object({
    review_ids: v.pipe(
      v.string(),
      v.transform((list) => list.split(',').filter((id) => id !== '')),
      v.minLength(1, 'must name at least one review'),
    ),
  }),
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

export const handler = endpoint(request, async ({ query }) => {
  const canonical = new Map(query.review_ids.map((sent) => [sent, toCanonical(sent)]));
  const ids = [...new Set(canonical.values())];
  if (ids.length > maxIds) throw invalidRequest(`review_ids must name at most ${maxIds} reviews`);

  const reviews = await findPublicReviews(ids);
  const found = new Set(reviews.map(({ review }) => review.id));
  return {
    reviews: Object.fromEntries(
      reviews.map(({ review, author }) => [review.id, presentReview(review, author)]),
    ),
    review_id_mapping: Object.fromEntries([...canonical].filter(([, id]) => found.has(id))),
  };
});

function toCanonical(sent: string): string {
  const id = canonicalUuid(sent);
  if (id === undefined)
    throw invalidRequest(
      `review_ids must be UUIDs separated by commas: "${sent.slice(0, 64)}" is none`,
    );
  return id;
}
