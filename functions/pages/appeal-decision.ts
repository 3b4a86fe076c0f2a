import * as v from 'valibot';
import { bodyOf, ReviewPath } from '../../shared/http/request.ts';
import { appeal } from '../../shared/moderation/decision-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { Text } from '../../shared/values.ts';

export const request = signedIn({
  path: ReviewPath,
  body: bodyOf({ statement: v.optional(Text(0, 500), '') }),
});

export const handler = page(request, async ({ caller, path, body }) => {
  await appeal(path.review_id, caller.user_id, body.statement);
  return { location: '/account', notice: 'appeal-sent' };
});
