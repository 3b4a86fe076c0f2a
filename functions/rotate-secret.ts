import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf, PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { endPreviousSecret, rotateSecret } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
  body: bodyOf({ previous: v.optional(v.literal('end', 'must be end')) }),
});

export const handler = page(request, async ({ caller, path, body }) => {
  const change = body.previous ? endPreviousSecret : rotateSecret;
  await change(path.client_id, caller.user_id);
  return { location: `${authUrl()}/account/applications/${path.client_id}` };
});
