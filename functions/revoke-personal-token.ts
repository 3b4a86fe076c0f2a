import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { PathParameter } from '../shared/http/request.ts';
import { deletePersonalToken, TokenId } from '../shared/oauth/personal-token-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';

export const request = v.object({
  caller: Session,
  path: v.object({ token_id: PathParameter('Token', TokenId) }),
});

export const handler = page(request, async ({ caller: { user_id }, path: { token_id } }) => {
  await deletePersonalToken({ user_id, grant_id: token_id });
  return { location: `${authUrl()}/account/tokens`, notice: 'token-revoked' };
});
