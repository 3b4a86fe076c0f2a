import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { bodyOf } from '../shared/http/request.ts';
import { Session } from '../shared/http/session.ts';
import { Registration } from '../shared/oauth/application.ts';
import { insertApplication } from '../shared/oauth/application-repository.ts';

export const request = v.object({ caller: Session, body: bodyOf(Registration.entries) });

export const handler = page(request, async ({ caller, body }) => {
  const { client_id } = await insertApplication(caller.user_id, body);
  return { location: `${authUrl()}/account/applications/${client_id}` };
});
