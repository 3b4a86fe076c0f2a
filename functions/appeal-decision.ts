import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf, PathId } from '../shared/http/request.ts';
import { appeal } from '../shared/moderation/decision-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { Text } from '../shared/values.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ review_id: PathId('Review') }),
  body: bodyOf({ statement: v.optional(Text(0, 500), '') }),
});

/** Appeals against the decision that hides a review by the person. */
export const handler = page(request, async ({ caller, path, body }) => {
  await appeal(path.review_id, caller.user_id, body.statement);
  return { location: `${authUrl()}/account`, notice: 'appeal-sent' };
});
