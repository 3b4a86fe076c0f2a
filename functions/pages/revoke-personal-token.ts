import * as v from 'valibot';
import { PathParameter } from '../../shared/core/http/request.ts';
import { deletePersonalToken, TokenId } from '../../shared/core/oauth/personal-token-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({ path: v.object({ token_id: PathParameter('Token', TokenId) }) });

export const handler = page(request, async ({ caller: { user_id }, path: { token_id } }) => {
  await deletePersonalToken({ user_id, grant_id: token_id });
  return { location: '/account/tokens', notice: 'token-revoked' };
});
