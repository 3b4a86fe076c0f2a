import * as v from 'valibot';
import { Uuid } from '../../shared/base/values.ts';
import { EntityTypeIn } from '../../shared/core/entity/entity-type.ts';
import { reviewableTypes } from '../../shared/core/entity/reviewable-types.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { answerOnce, IdempotencyKey } from '../../shared/core/http/idempotency.ts';
import { bodyOf, Caller } from '../../shared/core/http/request.ts';
import { Answer, processed } from '../../shared/core/http/response.ts';
import { Language, LicenseChoice, newReview } from '../../shared/core/review/review.ts';
import { insertReview } from '../../shared/core/review/review-repository.ts';
import { ownerTagOf } from '../../shared/core/review/revision-tag.ts';
import { SentWritten, sentTexts } from '../../shared/core/review/written.ts';

export { Created as response } from '../../shared/core/http/presented.ts';
export const request = v.object({
  caller: Caller,
  idempotency_key: IdempotencyKey,
  body: bodyOf({
    entity_id: Uuid,
    entity_type: EntityTypeIn(reviewableTypes),
    ...SentWritten.entries,
    license_choice: LicenseChoice,
    language: v.nullish(Language, 'en'),
    is_draft: v.nullish(v.boolean('must be true or false'), false),
  }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'Publish a review',
  description:
    '`is_draft` saves a draft instead. New reviews and drafts have a daily limit (UTC). A user has at most one review of an entity, drafts and hidden reviews included. Send `text`, `rating` or both.',
  fields: {
    entity_id: 'The reviewed entity',
    entity_type: 'Its type',
    ...sentTexts,
    license_choice: 'The licence of the review',
    language: 'The language of the text',
    is_draft: '`true` while only the author sees it',
  },
  headers: ['ETag'],
  example: {
    entity_id: '8e8a594f-2175-38c7-a871-abb68ec363e7',
    entity_type: 'release_group',
    language: 'en',
    text: 'Forty minutes that reward every new listen.',
    rating: 5,
    license_choice: 'CC BY-SA 4.0',
  },
  errors: {
    access_denied:
      'A moderator has blocked the account, or had hidden the review of this entity when the user deleted it.',
    limit_exceeded: 'The daily limit of publications is reached.',
    invalid_request: 'A field is not valid, or the user has a review of this entity already.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, idempotency_key: key, body }) => {
  const review = newReview(caller.user_id, body);
  const answer = await answerOnce(
    { user_id: caller.user_id, key, request: ['create-review', body] },
    { ...processed, id: review.id },
    async (record) => {
      await insertReview(review, record);
      return {};
    },
  );
  // Of the first revision. A repeated answer names the review that the first request has made.
  const { id } = answer.body as { id: string };
  const ETag = ownerTagOf({ id, edits: 0 });
  return new Answer(answer.body, { headers: { ...answer.options.headers, ETag } });
});
