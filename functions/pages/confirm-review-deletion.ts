import { ApiError } from '../../shared/base/errors.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Deletes an own review. A second click finds none, which is no error. */
export const handler = page(
  signedIn({ path: ReviewPath }),
  async ({ caller: { user_id }, path: { review_id } }) => {
    try {
      await deleteReview(review_id, user_id);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
    return { location: '/account/reviews', notice: 'review-deleted' };
  },
);
