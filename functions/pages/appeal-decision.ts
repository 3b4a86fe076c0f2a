import * as v from 'valibot';
import { Text } from '../../shared/base/values.ts';
import { bodyOf, ReviewPath } from '../../shared/core/http/request.ts';
import { appeal } from '../../shared/core/report/decision-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: ReviewPath,
  body: bodyOf({ statement: v.optional(Text(0, 500), '') }),
});

export const handler = page(request, async ({ caller, path, body }) => {
  await appeal(path.review_id, caller.user_id, body.statement);
  return { location: '/account', notice: 'appeal-sent' };
});
