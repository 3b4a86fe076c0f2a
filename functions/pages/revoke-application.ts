import * as v from 'valibot';
import { bodyOf } from '../../shared/core/http/request.ts';
import { revokeApplication } from '../../shared/core/oauth/application-repository.ts';
import {
  ApplicationPath,
  applicationPath,
} from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: ApplicationPath,
  body: bodyOf({ everybody: v.optional(v.string()) }),
});

/** Revokes the access of an application to every account, for example after a leak. */
export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = applicationPath(client_id);
  if (body.everybody !== 'yes') return { location, notice: 'not-ticked' };
  await revokeApplication(client_id, caller.user_id);
  return { location, notice: 'application-revoked' };
});
