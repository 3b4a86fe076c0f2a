import { page, signedIn } from '../../shared/pages/form/page.ts';
import { ReviewedEntity, startReview } from '../../shared/pages/review/new-review-page.ts';

/** Shows the form to write a review of an entity. Other sites link to it. */
export const handler = page(signedIn({ query: ReviewedEntity }), ({ query }, { visitor }) =>
  startReview(query, visitor),
);
