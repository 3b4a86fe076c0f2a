import * as v from 'valibot';
import { oneOf } from '../../shared/base/values.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import { clientTypes, Registration } from '../../shared/core/oauth/application.ts';
import { insertApplication } from '../../shared/core/oauth/application-repository.ts';
import { applicationsPage } from '../../shared/features/webhooks/public.ts';
import { applicationPath } from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const NewApplication = bodyOf({
  ...Registration.entries,
  client_type: v.optional(oneOf(clientTypes), 'confidential'),
  form_id: v.optional(v.string()),
});

export const handler = page(
  signedIn({ body: NewApplication }),
  async ({ caller, body: { form_id, client_type, ...registration } }) => {
    const { user_id } = caller;
    const { client_id } = await insertApplication(user_id, registration, form_id, client_type);
    return { location: applicationPath(client_id), notice: 'application-registered' };
  },
  (_, filled, { visitor }) => applicationsPage(visitor, filled),
);
