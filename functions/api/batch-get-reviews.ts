import { bytesOf } from '../../shared/base/bytes-of.ts';
import { invalidRequest } from '../../shared/base/errors.ts';
import { BulkRequest, bulkErrors, bulkIdsText, lookUp } from '../../shared/core/http/bulk.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { affordable, completed, isWhole } from '../../shared/core/review/long-text.ts';
import { mostLookedUpBytes } from '../../shared/core/review/page-size.ts';
import { findPublicReviews } from '../../shared/core/review/read-reviews.ts';
import { presentReview } from '../../shared/core/review/review.ts';

export { ReviewsById as response } from '../../shared/core/review/presented.ts';
export const request = BulkRequest('review_ids');

export const docs = {
  tag: 'Reviews',
  summary: 'Read several reviews',
  description:
    'Ids of hidden or missing reviews are left out of both parts of the answer. If too many long imported texts are asked for at once, the answer is 400, and fewer ids work.',
  fields: {
    review_ids: bulkIdsText,
  },
  errors: {
    ...bulkErrors,
    invalid_request:
      'There is no id, there are too many, one is not a UUID, or the texts are too long for one answer.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query }) => {
  const { found, mapping } = await lookUp(query.review_ids, findPresented);
  return { reviews: found, review_id_mapping: mapping };
});

/**
 * Finds reviews and presents them. Throws ApiError 400 if long texts pass what a request may read
 * or an answer may have. One review alone never does, and reviews with texts of people never do.
 */
async function findPresented(ids: readonly string[]) {
  const stored = await findPublicReviews(ids);
  const hasLong = !stored.every(({ review }) => isWhole(review));
  if (affordable(stored).length < stored.length) throw tooLong();
  const reviews = (await completed(stored)).map(({ review, author }) =>
    presentReview(review, author),
  );
  if (hasLong && reviews.length > 1 && bytesOf(reviews) > mostLookedUpBytes) throw tooLong();
  return reviews;
}

function tooLong() {
  return invalidRequest(
    'review_ids must hold fewer ids: texts of these reviews are longer than people write, and do not fit one answer',
  );
}
