import { ReviewPath } from '../../shared/core/http/request.ts';
import { casePage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Shows moderators a reported, hidden or appealed review, and the form to decide on it. */
export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  casePage(path.review_id, visitor),
);
