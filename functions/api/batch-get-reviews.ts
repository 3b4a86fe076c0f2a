import * as v from 'valibot';
import {
  BulkIds,
  BulkQueryString,
  bulkErrors,
  bulkIdsText,
  lookUp,
} from '../../shared/http/bulk.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { presentReview } from '../../shared/review/review.ts';
import { findPublicReviews } from '../../shared/review/review-repository.ts';

export { ReviewsById as response } from '../../shared/review/presented.ts';
export const request = v.object({
  query_string: BulkQueryString,
  query: v.object({ review_ids: BulkIds }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'Read several reviews',
  description: 'Ids of hidden or missing reviews are left out of both parts of the answer.',
  fields: {
    review_ids: bulkIdsText,
  },
  errors: bulkErrors,
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query }) => {
  const { found, mapping } = await lookUp(query.review_ids, async (ids) =>
    (await findPublicReviews(ids)).map(({ review, author }) => presentReview(review, author)),
  );
  return { reviews: found, review_id_mapping: mapping };
});
