import { ReviewPath } from '../../shared/core/http/request.ts';
import { reportPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

/** Asks a person for the reason to report a review. */
export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  reportPage(path.review_id, visitor),
);
