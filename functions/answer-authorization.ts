import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf } from '../shared/http/request.ts';
import { answerAuthorization } from '../shared/oauth/authorization-repository.ts';
import { answerUri } from '../shared/oauth/authorization-request.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { oneOf } from '../shared/values.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ request: v.string(), decision: oneOf(['approve', 'refuse']) }),
});

/** Takes the answer from the consent page. The client gets a code, or hears that access is denied (RFC 6749 section 4.1.2). */
export const handler = page(request, async ({ caller, body }) => {
  const { request, code } = await answerAuthorization(body.request, body.decision, caller.user_id);
  const answer = code === undefined ? ({ error: 'access_denied' } as const) : { code };
  return { location: answerUri(request.redirect_uri, request.state, authUrl(), answer) };
});
