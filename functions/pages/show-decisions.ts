import { logPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery } from '../../shared/pages/frame/lists.ts';

/** Shows moderators the log of decisions. */
export const handler = page(signedIn({ query: CursorQuery }), ({ query }, { visitor }) =>
  logPage(visitor, query),
);
