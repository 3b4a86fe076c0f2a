import * as v from 'valibot';
import { PathId } from '../shared/http/request.ts';
import { page } from '../shared/pages/page.ts';
import { reportPage } from '../shared/pages/report-page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ review_id: PathId('Review') }),
});

export const handler = page(request, ({ path }, { visitor }) =>
  reportPage(path.review_id, visitor),
);
