import * as v from 'valibot';
import { ApiError } from '../../shared/errors.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { afterSaving } from '../../shared/pages/review/edit-review-page.ts';
import { ReviewedEntity, refilledReview } from '../../shared/pages/review/new-review-page.ts';
import { typedFields } from '../../shared/pages/review/review-fields.ts';
import { findOwnReview } from '../../shared/review/own-reviews.ts';
import {
  isDraft,
  Language,
  LicenseChoice,
  newReview,
  type Review,
} from '../../shared/review/review.ts';
import { getReviewBy, insertReview } from '../../shared/review/review-repository.ts';
import { isSameWritten } from '../../shared/review/written.ts';

const ReviewForm = v.object({
  ...typedFields,
  language: Language,
  license_choice: LicenseChoice,
  is_draft: v.optional(v.string()),
});

/** Publishes a review, or saves a draft. */
export const handler = page(
  signedIn({ query: ReviewedEntity, body: ReviewForm }),
  async ({ caller: { user_id }, query, body }) => {
    const isPublication = body.is_draft !== 'yes';
    const review = newReview(user_id, { ...query, ...body, is_draft: !isPublication });
    try {
      return afterSaving(await insertReview(review), isPublication);
    } catch (error) {
      const earlier = error instanceof ApiError && error.status < 500 && (await findSame(review));
      if (!earlier) throw error;
      return afterSaving(earlier, isPublication);
    }
  },
  ({ query }, filled, { visitor }) => refilledReview(query, filled, visitor),
  { longField: 'text' },
);

/** Finds the review that the same form has made before, if it was sent twice. */
async function findSame(review: Review): Promise<Review | undefined> {
  const own = await findOwnReview(review.user_id, review.entity_id);
  if (!own || own === 'hidden') return undefined;
  const stored = await getReviewBy(review.user_id, own.review_id);
  const isSame =
    isSameWritten(stored, review) &&
    stored.language === review.language &&
    stored.license === review.license &&
    isDraft(stored) === isDraft(review);
  return isSame ? stored : undefined;
}
