import { ReviewedEntity, startReview } from '../shared/pages/new-review-page.ts';
import { page, signedIn } from '../shared/pages/page.ts';

/** Shows the form to write a review of an entity. Other sites link to it. */
export const handler = page(signedIn({ query: ReviewedEntity }), ({ query }, { visitor }) =>
  startReview(query, visitor),
);
