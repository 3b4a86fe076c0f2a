import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { ApiError } from '../../shared/errors.ts';
import { bodyOf } from '../../shared/http/request.ts';
import { findApplication, isOwnerBlocked } from '../../shared/oauth/application-repository.ts';
import {
  answerAuthorization,
  findAuthorizationRequest,
} from '../../shared/oauth/authorization-repository.ts';
import { answerUri } from '../../shared/oauth/authorization-request.ts';
import { blockedOwnerPage, obstaclePage } from '../../shared/pages/application/consent-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { refuseBlocked } from '../../shared/user/writer.ts';
import { oneOf } from '../../shared/values.ts';

/** Answers the client with a code, or with `access_denied` (RFC 6749 section 4.1.2). */
export const handler = page(
  signedIn({
    query: v.object({ request_id: v.string() }),
    body: bodyOf({ decision: oneOf(['approve', 'refuse']) }),
  }),
  async ({ caller, query: { request_id }, body }, { visitor }) => {
    if (body.decision === 'approve') {
      refuseBlocked(visitor.user);
      const application = await findRequestingApplication(request_id);
      if (application && (await isOwnerBlocked(application))) return blockedOwnerPage(application);
    }
    try {
      const { user_id } = caller;
      const { request, code } = await answerAuthorization(request_id, body.decision, user_id);
      const answer = code === undefined ? ({ error: 'access_denied' } as const) : { code };
      return { location: answerUri(request.redirect_uri, request.state, authUrl(), answer) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
      const application = await findRequestingApplication(request_id);
      return obstaclePage({ title: 'Please start again', application, what: error.message });
    }
  },
);

async function findRequestingApplication(requestId: string) {
  const authorization = await findAuthorizationRequest(requestId);
  return authorization && findApplication(authorization.client_id);
}
