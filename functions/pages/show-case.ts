import { ReviewPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { casePage } from '../../shared/pages/moderation/case-page.ts';

/** Shows moderators a reported, hidden or appealed review, and the form to decide on it. */
export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  casePage(path.review_id, visitor),
);
