import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { PathId } from '../shared/http/request.ts';
import { Answer } from '../shared/http/response.ts';
import { presentReview } from '../shared/review/review.ts';
import { getPublicReview, revisionTagOf } from '../shared/review/review-repository.ts';

export const request = v.object({ path: v.object({ review_id: PathId('Review') }) });

export const handler = endpoint(request, async ({ path }) => {
  const { review, author } = await getPublicReview(path.review_id);
  return new Answer(
    { review: presentReview(review, author) },
    { revisionTag: revisionTagOf(review) },
  );
});
