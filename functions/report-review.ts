import * as v from 'valibot';
import { invalidRequest } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { bodyOf, Caller, PathId } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { Reason } from '../shared/review/report.ts';
import { insertReport } from '../shared/review/report-repository.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
  body: v.nullish(bodyOf({ reason: v.nullish(Reason) })),
});

export const handler = endpoint(request, async ({ caller, path, body }) => {
  const { review } = await getPublicReview(path.review_id);
  if (review.user_id === caller.user_id) throw invalidRequest('You cannot report your own review');
  await insertReport({
    review_id: review.id,
    user_id: caller.user_id,
    reason: body?.reason || 'Spam',
    reported_at: new Date().toISOString(),
  });
  return processed;
});
