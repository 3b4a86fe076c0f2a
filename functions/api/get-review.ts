import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { ReviewPath } from '../../shared/http/request.ts';
import { Answer } from '../../shared/http/response.ts';
import { linkToPage } from '../../shared/links.ts';
import { getWholeReview } from '../../shared/review/read-reviews.ts';
import { presentReview } from '../../shared/review/review.ts';
import { revisionTagOf } from '../../shared/review/revision-tag.ts';

export { ReviewResponse as response } from '../../shared/review/presented.ts';
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
