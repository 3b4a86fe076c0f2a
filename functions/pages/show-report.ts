import { ReviewPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { reportPage } from '../../shared/pages/moderation/report-page.ts';

/** Asks a person for the reason to report a review. */
export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  reportPage(path.review_id, visitor),
);
