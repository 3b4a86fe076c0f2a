import * as v from 'valibot';
import { ApiError } from '../../shared/errors.ts';
import { ReviewPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import type { Redirect } from '../../shared/pages/frame/html-response.ts';
import { editReviewPage } from '../../shared/pages/review/edit-review-page.ts';
import { contentFields } from '../../shared/pages/review/review-fields.ts';
import { isDraft, isPublic, type Review } from '../../shared/review/review.ts';
import { getReviewBy, updateReview } from '../../shared/review/review-repository.ts';

const EditForm = v.object({
  ...contentFields,
  /** Tag of the revision that the form showed. */
  revision: v.string(),
  /** `no` publishes a draft, `yes` saves one. Absent from the form of a published review. */
  is_draft: v.optional(v.string()),
});

/** Saves an own review or draft, or publishes a draft. */
export const handler = page(
  signedIn({ path: ReviewPath, body: EditForm }),
  async ({ caller: { user_id }, path: { review_id }, body }, { visitor }) => {
    const { text, rating, revision } = body;
    const is_draft = body.is_draft === undefined ? undefined : body.is_draft !== 'no';
    try {
      await updateReview(review_id, user_id, { text, rating, is_draft }, [revision]);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      const review = await getReviewBy(user_id, review_id);
      const isSame = review.text === text && review.rating === rating;
      // The form was sent twice: the first time has saved it.
      if (isSame && (is_draft ?? isDraft(review)) === isDraft(review)) return next(review);
      const values = { text: text ?? '', rating: `${rating ?? ''}` };
      const faults = {
        '': 'The review was saved elsewhere after you opened this page, so nothing was changed. The saved one is below yours. Press the button again to replace it.',
      };
      return { ...(await editReviewPage(review_id, visitor, { values, faults })), status: 412 };
    }
    return next(await getReviewBy(user_id, review_id));
  },
  ({ path }, filled, { visitor }) => editReviewPage(path.review_id, visitor, filled),
  { isKept: true },
);

function next(review: Review): Redirect {
  if (isDraft(review)) return { location: `/review/${review.id}/edit`, notice: 'draft-saved' };
  if (isPublic(review)) return { location: `/review/${review.id}` };
  return { location: '/account/reviews', notice: 'review-saved' };
}
