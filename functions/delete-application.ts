import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf, PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { deleteApplication } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
  body: bodyOf({ confirm: v.optional(v.string()) }),
});

export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = `${authUrl()}/account/applications`;
  if (body.confirm !== 'yes') return { location: `${location}/${client_id}`, notice: 'not-ticked' };
  await deleteApplication(client_id, caller.user_id);
  return { location, notice: 'application-deleted' };
});
