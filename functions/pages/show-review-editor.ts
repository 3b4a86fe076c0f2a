import { ReviewPath } from '../../shared/core/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { editReviewPage } from '../../shared/pages/review/edit-review-page.ts';

/** Shows an own review or draft, to edit or publish it. */
export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  editReviewPage(path.review_id, visitor),
);
