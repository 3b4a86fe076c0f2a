import { bodyOf } from '../../shared/core/http/request.ts';
import { Registration } from '../../shared/core/oauth/application.ts';
import { updateApplication } from '../../shared/core/oauth/application-repository.ts';
import { registrationPage } from '../../shared/features/webhooks/public.ts';
import {
  ApplicationPath,
  applicationPath,
} from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(
  signedIn({ path: ApplicationPath, body: bodyOf(Registration.entries) }),
  async ({ caller, path, body }) => {
    await updateApplication(path.client_id, caller.user_id, body);
    return { location: applicationPath(path.client_id), notice: 'application-saved' };
  },
  ({ path }, filled, { visitor }) => registrationPage(path.client_id, visitor, filled),
);
