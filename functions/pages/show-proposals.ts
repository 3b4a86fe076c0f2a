import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery } from '../../shared/pages/frame/lists.ts';
import { proposalsPage } from '../../shared/pages/moderation/proposals-page.ts';

/** Shows moderators the names that people want to correct. */
export const handler = page(signedIn({ query: CursorQuery }), ({ query }, { visitor }) =>
  proposalsPage(visitor, query),
);
