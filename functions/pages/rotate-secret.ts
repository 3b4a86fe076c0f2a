import * as v from 'valibot';
import { ApiError } from '../../shared/errors.ts';
import { bodyOf } from '../../shared/http/request.ts';
import { endPreviousSecret, rotateSecret } from '../../shared/oauth/application-repository.ts';
import {
  ApplicationPath,
  applicationPath,
} from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: ApplicationPath,
  body: bodyOf({ previous: v.optional(v.literal('end', 'must be end')) }),
});

/** Creates a new secret, or revokes the old one. A repeated request creates no third secret. */
export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = applicationPath(client_id);
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
