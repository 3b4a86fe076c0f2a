import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { bodyOf } from '../shared/http/request.ts';
import { Session } from '../shared/http/session.ts';
import {
  approveAuthorization,
  getAuthorizationRequest,
  refuseAuthorization,
} from '../shared/oauth/authorization-repository.ts';
import { answerUri } from '../shared/oauth/authorization-request.ts';
import { oneOf } from '../shared/values.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ request: v.string(), decision: oneOf(['approve', 'refuse']) }),
});

/** The answer on the consent page: the client gets a code, or hears that access is denied. */
export const handler = page(request, async ({ caller, body }) => {
  const asked = await getAuthorizationRequest(body.request);
  const { redirect_uri, state } = asked;
  if (body.decision === 'refuse') {
    await refuseAuthorization(body.request, asked);
    return { location: answerUri(redirect_uri, state, authUrl(), { error: 'access_denied' }) };
  }
  const code = await approveAuthorization(body.request, asked, caller.user_id);
  return { location: answerUri(redirect_uri, state, authUrl(), { code }) };
});
