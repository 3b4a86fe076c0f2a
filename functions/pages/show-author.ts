import { UserPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery } from '../../shared/pages/frame/lists.ts';
import { authorPage } from '../../shared/pages/moderation/author-page.ts';

export const request = signedIn({ path: UserPath, query: CursorQuery });

/** Shows moderators an account with its reviews, and the forms to block it. */
export const handler = page(request, ({ path, query }, { visitor }) =>
  authorPage(path.user_id, visitor, query),
);
