import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { ApiError } from '../../shared/base/errors.ts';
import { oneOf } from '../../shared/base/values.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import { findApplication, isOwnerBlocked } from '../../shared/core/oauth/application-repository.ts';
import {
  answerAuthorization,
  findAuthorizationRequest,
} from '../../shared/core/oauth/authorization-repository.ts';
import { answerUri } from '../../shared/core/oauth/authorization-request.ts';
import { refuseBlocked } from '../../shared/core/user/writer.ts';
import { blockedOwnerPage, obstaclePage } from '../../shared/pages/application/consent-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

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
