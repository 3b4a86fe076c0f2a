import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf } from '../shared/http/request.ts';
import { Registration } from '../shared/oauth/application.ts';
import { insertApplication } from '../shared/oauth/application-repository.ts';
import { applicationsPage } from '../shared/pages/applications-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ ...Registration.entries, form_id: v.optional(v.string()) }),
});

export const handler = page(
  request,
  async ({ caller, body }) => {
    const { form_id, ...registration } = body;
    const { client_id } = await insertApplication(caller.user_id, registration, form_id);
    return {
      location: `${authUrl()}/account/applications/${client_id}`,
      notice: 'application-registered',
    };
  },
  ({ caller }, filled, { visitor }) => applicationsPage(caller.user_id, visitor.csrf, filled),
);
