import * as v from 'valibot';
import { Text } from '../../shared/base/values.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { answerOnce, IdempotencyKey } from '../../shared/core/http/idempotency.ts';
import { bodyOf, Caller, ReviewPath } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { insertReport } from '../../shared/core/report/report-repository.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({
  caller: Caller,
  path: ReviewPath,
  idempotency_key: IdempotencyKey,
  body: v.nullish(bodyOf({ reason: v.nullish(Text(0, 500)) })),
});

export const docs = {
  tag: 'Votes and reports',
  summary: 'Report a review',
  description:
    'Reports it to moderators. A repeated report succeeds and changes nothing. The daily limit (UTC) depends on karma, as with votes. The body is optional.',
  fields: {
    reason:
      'The reason: `spam`, `abuse`, `off_topic`, `copyright`, `other`, or a text of at most 500 characters. The default is `Spam`',
  },
  example: { reason: 'off_topic' },
  headers: ['RateLimit', 'RateLimit-Policy'],
  errors: {
    invalid_request: "The reason is too long, or the review is the caller's own.",
    access_denied: 'A moderator has blocked the account.',
    limit_exceeded: 'The daily limit of reports is reached.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, ({ caller, path, idempotency_key: key, body }) => {
  const { user_id } = caller;
  const reason = body?.reason || 'Spam';
  return answerOnce(
    { user_id, key, request: ['report-review', path.review_id, reason] },
    processed,
    async (record) => {
      const { review } = await getPublicReview(path.review_id);
      return insertReport(review, { user_id, reason }, record);
    },
  );
});
