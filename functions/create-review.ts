import * as v from 'valibot';
import { invalidRequest } from '../shared/errors.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { answerOnce, IdempotencyKey } from '../shared/http/idempotency.ts';
import { bodyOf, Caller } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import {
  Language,
  LicenseChoice,
  newReview,
  Rating,
  ReviewedType,
  ReviewText,
} from '../shared/review/review.ts';
import { insertReview } from '../shared/review/review-repository.ts';
import { Uuid } from '../shared/values.ts';

export const request = v.object({
  caller: Caller,
  idempotency_key: IdempotencyKey,
  body: bodyOf({
    entity_id: Uuid,
    entity_type: ReviewedType,
    text: v.nullish(ReviewText, null),
    rating: v.nullish(Rating, null),
    license_choice: LicenseChoice,
    language: v.nullish(Language, 'en'),
    is_draft: v.nullish(v.boolean('must be true or false'), false),
  }),
});

export const handler = endpoint(request, async ({ caller, idempotency_key: key, body }) => {
  if (body.text === null && body.rating === null)
    throw invalidRequest('text or rating is required');
  const review = newReview(caller.user_id, body);
  return answerOnce(
    { user_id: caller.user_id, key, request: ['create-review', body] },
    { ...processed, id: review.id },
    (record) => insertReview(review, record),
  );
});
