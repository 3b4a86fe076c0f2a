import * as v from 'valibot';
import { PathId } from '../shared/http/request.ts';
import { authorPage } from '../shared/pages/author-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ user_id: PathId('User') }),
  query: v.object({ cursor: v.optional(v.string()) }),
});

export const handler = page(request, ({ path, query }, { visitor }) =>
  authorPage(path.user_id, visitor, query),
);
