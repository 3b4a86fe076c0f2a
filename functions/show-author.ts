import { UserPath } from '../shared/http/request.ts';
import { authorPage } from '../shared/pages/author-page.ts';
import { CursorQuery } from '../shared/pages/lists.ts';
import { page, signedIn } from '../shared/pages/page.ts';

export const request = signedIn({ path: UserPath, query: CursorQuery });

/** Shows moderators an account with its reviews, and the forms to block it. */
export const handler = page(request, ({ path, query }, { visitor }) =>
  authorPage(path.user_id, visitor, query),
);
