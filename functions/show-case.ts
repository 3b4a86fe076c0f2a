import { ReviewPath } from '../shared/http/request.ts';
import { casePage } from '../shared/pages/case-page.ts';
import { page, signedIn } from '../shared/pages/page.ts';

export const handler = page(signedIn({ path: ReviewPath }), ({ path }, { visitor }) =>
  casePage(path.review_id, visitor),
);
