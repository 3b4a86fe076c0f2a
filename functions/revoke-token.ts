import { invalidGrant, invalidRequest } from '../shared/errors.ts';
import { oauthEndpoint } from '../shared/http/oauth-endpoint.ts';
import { openToken } from '../shared/oauth/credentials.ts';
import { deleteGrant } from '../shared/oauth/grant-repository.ts';

/** Either token ends the whole grant (RFC 7009). A token that means nothing any more is a success. */
export const handler = oauthEndpoint(async (client, { token }) => {
  if (!token) throw invalidRequest('token is required');
  const grant = (await openToken('refresh', token)) ?? (await openToken('access', token));
  if (!grant) return {};
  if (grant.client_id !== client.client_id) throw invalidGrant('The token is of another client');
  await deleteGrant(grant);
  return {};
});
