import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf, PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { revokeApplication } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
  body: bodyOf({ everybody: v.optional(v.string()) }),
});

/** Revokes the access of an application to every account. Its owner needs this after a leak. */
export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = `${authUrl()}/account/applications/${client_id}`;
  if (body.everybody !== 'yes') return { location, notice: 'not-ticked' };
  await revokeApplication(client_id, caller.user_id);
  return { location, notice: 'application-revoked' };
});
