import { UserPath } from '../../shared/core/http/request.ts';
import { AuthorQuery, authorPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({ path: UserPath, query: AuthorQuery });

/** Shows moderators an account with its reviews, and the forms to block it. */
export const handler = page(request, ({ path, query }, { visitor }) =>
  authorPage(path.user_id, visitor, query),
);
