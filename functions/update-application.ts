import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf, PathParameter } from '../shared/http/request.ts';
import { ClientId, Registration } from '../shared/oauth/application.ts';
import { updateApplication } from '../shared/oauth/application-repository.ts';
import { registrationPage } from '../shared/pages/application-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
  body: bodyOf(Registration.entries),
});

export const handler = page(
  request,
  async ({ caller, path, body }) => {
    await updateApplication(path.client_id, caller.user_id, body);
    return {
      location: `${authUrl()}/account/applications/${path.client_id}`,
      notice: 'application-saved',
    };
  },
  ({ caller, path }, filled, { visitor }) =>
    registrationPage(path.client_id, caller.user_id, visitor.csrf, filled),
);
