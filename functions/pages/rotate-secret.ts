import * as v from 'valibot';
import { ApiError } from '../../shared/base/errors.ts';
import { oneOf } from '../../shared/base/values.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import { clientTypes } from '../../shared/core/oauth/application.ts';
import {
  endPreviousSecret,
  rotateSecret,
  setClientType,
} from '../../shared/core/oauth/application-repository.ts';
import {
  ApplicationPath,
  applicationPath,
} from '../../shared/pages/application/application-path.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: ApplicationPath,
  body: bodyOf({
    previous: v.optional(v.literal('end', 'must be end')),
    client_type: v.optional(oneOf(clientTypes)),
    public: v.optional(v.string()),
  }),
});

/**
 * Creates a new secret, revokes the old one, or makes the application public or confidential. A
 * repeated request creates no third secret.
 */
export const handler = page(request, async ({ caller, path: { client_id }, body }) => {
  const location = applicationPath(client_id);
  const { client_type } = body;
  if (client_type === 'public' && body.public !== 'yes') return { location, notice: 'not-ticked' };
  if (client_type) {
    await setClientType(client_id, caller.user_id, client_type);
    return { location, notice: `application-${client_type}` };
  }
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
