import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { ApiError } from '../shared/errors.ts';
import { bodyOf, PathParameter } from '../shared/http/request.ts';
import { ClientId } from '../shared/oauth/application.ts';
import { endPreviousSecret, rotateSecret } from '../shared/oauth/application-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ client_id: PathParameter('Application', ClientId) }),
  body: bodyOf({ previous: v.optional(v.literal('end', 'must be end')) }),
});

/**
 * Creates a new secret, or revokes the old one. A repeated request creates no third secret. Its
 * notice says that there are already two.
 */
export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = `${authUrl()}/account/applications/${client_id}`;
  if (body.previous) {
    await endPreviousSecret(client_id, caller.user_id);
    return { location, notice: 'secret-ended' };
  }
  try {
    await rotateSecret(client_id, caller.user_id);
    return { location, notice: 'secret-made' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
    return { location, notice: 'secrets-full' };
  }
});
