import * as v from 'valibot';
import { invalidRequest } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { answerOnce, IdempotencyKey } from '../shared/http/idempotency.ts';
import { bodyOf, Caller, PathId } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { Reason } from '../shared/review/report.ts';
import { insertReport } from '../shared/review/report-repository.ts';
import { getPublicReview } from '../shared/review/review-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
  idempotency_key: IdempotencyKey,
  body: v.nullish(bodyOf({ reason: v.nullish(Reason) })),
});

export const handler = endpoint(request, ({ caller, path, idempotency_key: key, body }) => {
  const { user_id } = caller;
  const reason = body?.reason || 'Spam';
  return answerOnce(
    { user_id, key, request: ['report-review', path.review_id, reason] },
    processed,
    async (record) => {
      const { review } = await getPublicReview(path.review_id);
      if (review.user_id === user_id) throw invalidRequest('You cannot report your own review');
      const reported_at = new Date().toISOString();
      await insertReport({ review_id: review.id, user_id, reason, reported_at }, record);
    },
  );
});
