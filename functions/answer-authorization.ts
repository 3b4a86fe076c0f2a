import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { ApiError } from '../shared/errors.ts';
import { bodyOf } from '../shared/http/request.ts';
import type { Application } from '../shared/oauth/application.ts';
import { findApplication, isOwnerBlocked } from '../shared/oauth/application-repository.ts';
import {
  answerAuthorization,
  findAuthorizationRequest,
} from '../shared/oauth/authorization-repository.ts';
import { answerUri } from '../shared/oauth/authorization-request.ts';
import { blockedOwnerPage, obstaclePage } from '../shared/pages/consent-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { refuseBlocked } from '../shared/user/writer.ts';
import { oneOf } from '../shared/values.ts';

export const request = v.object({
  caller: Session,
  query: v.object({ request_id: v.string() }),
  body: bodyOf({ decision: oneOf(['approve', 'refuse']) }),
});

/**
 * Handles the answer from the consent page. The client receives a code, or `access_denied` (RFC
 * 6749 section 4.1.2).
 */
export const handler = page(
  request,
  async ({ caller, query: { request_id }, body }, { visitor }) => {
    if (body.decision === 'approve') {
      refuseBlocked(visitor.user);
      const application = await findRequestingApplication(request_id);
      if (application && (await isOwnerBlocked(application))) return blockedOwnerPage(application);
    }
    try {
      const { request, code } = await answerAuthorization(
        request_id,
        body.decision,
        caller.user_id,
      );
      const answer = code === undefined ? ({ error: 'access_denied' } as const) : { code };
      return { location: answerUri(request.redirect_uri, request.state, authUrl(), answer) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error;
      const application = await findRequestingApplication(request_id);
      return obstaclePage({ title: 'Please start again', application, what: error.message });
    }
  },
);

async function findRequestingApplication(requestId: string): Promise<Application | undefined> {
  const authorization = await findAuthorizationRequest(requestId);
  return authorization && findApplication(authorization.client_id);
}
