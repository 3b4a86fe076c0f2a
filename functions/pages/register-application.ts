import * as v from 'valibot';
import { bodyOf } from '../../shared/http/request.ts';
import { Registration } from '../../shared/oauth/application.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import { applicationsPage } from '../../shared/pages/application/application-pages.ts';
import { applicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(
  signedIn({ body: bodyOf({ ...Registration.entries, form_id: v.optional(v.string()) }) }),
  async ({ caller, body: { form_id, ...registration } }) => {
    const { client_id } = await insertApplication(caller.user_id, registration, form_id);
    return { location: applicationPath(client_id), notice: 'application-registered' };
  },
  (_, filled, { visitor }) => applicationsPage(visitor, filled),
);
