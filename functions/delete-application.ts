import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { bodyOf } from '../shared/http/request.ts';
import { Session } from '../shared/http/session.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { deleteApplication } from '../shared/oauth/application-repository.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: ClientId }),
  body: bodyOf({ confirm: v.literal('yes', 'must be ticked') }),
});

export const handler = page(request, async ({ caller, path }) => {
  await deleteApplication(path.client_id, caller.user_id);
  return { location: `${authUrl()}/account/applications` };
});
