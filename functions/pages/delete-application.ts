import * as v from 'valibot';
import { bodyOf } from '../../shared/core/http/request.ts';
import { deleteApplication } from '../../shared/core/oauth/application-repository.ts';
import {
  ApplicationPath,
  applicationPath,
} from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: ApplicationPath,
  body: bodyOf({ confirm: v.optional(v.string()) }),
});

export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  if (body.confirm !== 'yes') return { location: applicationPath(client_id), notice: 'not-ticked' };
  await deleteApplication(client_id, caller.user_id);
  return { location: '/account/applications', notice: 'application-deleted' };
});
