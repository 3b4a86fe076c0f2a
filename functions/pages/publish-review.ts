import * as v from 'valibot';
import { invalidRequest } from '../../shared/errors.ts';
import { answerOnce, maxLength } from '../../shared/http/idempotency.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import {
  findOtherType,
  newReviewAgain,
  ReviewedEntity,
} from '../../shared/pages/review/new-review-page.ts';
import { contentFields } from '../../shared/pages/review/review-fields.ts';
import { Language, LicenseChoice, newReview } from '../../shared/review/review.ts';
import { insertReview } from '../../shared/review/review-repository.ts';

const ReviewForm = v.object({
  ...contentFields,
  language: Language,
  license_choice: LicenseChoice,
  /** Random, of the first showing of the form. It makes one review, however often it is sent. */
  key: v.pipe(v.string(), v.nonEmpty(), v.maxLength(maxLength)),
  is_draft: v.optional(v.string()),
});

/** Publishes a review, or saves a draft. */
export const handler = page(
  signedIn({ query: ReviewedEntity, body: ReviewForm }),
  async ({ caller: { user_id }, query, body: { key, is_draft, ...content } }) => {
    const other = await findOtherType(query);
    if (other) {
      throw invalidRequest(`entity_type must be ${other}, as in the reviews of this entity`);
    }
    const isDraft = is_draft === 'yes';
    const review = newReview(user_id, { ...query, ...content, is_draft: isDraft });
    const { body } = await answerOnce(
      { user_id, key, request: ['publish-review', query, content, isDraft] },
      { id: review.id },
      async (record) => {
        await insertReview(review, record);
        return {};
      },
    );
    const { id } = v.parse(v.object({ id: v.string() }), body);
    if (isDraft) return { location: `/review/${id}/edit`, notice: 'draft-saved' };
    return { location: `/review/${id}` };
  },
  ({ query }, filled, { visitor }) => newReviewAgain(query, filled, visitor),
  { isKept: true },
);
