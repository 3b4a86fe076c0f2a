import * as v from 'valibot';
import { PathId } from '../shared/http/request.ts';
import { casePage } from '../shared/pages/case-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ review_id: PathId('Review') }),
});

export const handler = page(request, ({ path }, { visitor }) => casePage(path.review_id, visitor));
