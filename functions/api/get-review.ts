import * as v from 'valibot';
import { linkToPage } from '../../shared/base/links.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { getWholeReview } from '../../shared/core/review/read-reviews.ts';
import { presentReview } from '../../shared/core/review/review.ts';
import { revisionTagOf } from '../../shared/core/review/revision-tag.ts';

export { ReviewResponse as response } from '../../shared/core/review/presented.ts';
export const request = v.object({ path: ReviewPath });

export const docs = {
  tag: 'Reviews',
  summary: 'Read a review',
  description:
    'The review with its author and votes, as anybody may see it. An own draft is not found here: read it in `GET /user/me/reviews`. Send the `ETag` as `If-Match` when you change or delete the review.',
  headers: ['Link'],
  errors: { not_found: 'The review does not exist, or is a draft or hidden.' },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path }) => {
  const { review, author } = await getWholeReview(path.review_id);
  return new Answer(
    { review: presentReview(review, author) },
    { revisionTag: revisionTagOf(review), headers: { Link: linkToPage(`/review/${review.id}`) } },
  );
});
