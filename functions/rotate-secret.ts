import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { rotateSecret } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
});

export const handler = page(request, async ({ caller, path }) => {
  await rotateSecret(path.client_id, caller.user_id);
  return { location: `${authUrl()}/account/applications/${path.client_id}` };
});
