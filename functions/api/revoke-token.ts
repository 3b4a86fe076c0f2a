import * as v from 'valibot';
import { invalidGrant } from '../../shared/base/errors.ts';
import type { Docs } from '../../shared/core/http/endpoint.ts';
import { credentials, oauthEndpoint } from '../../shared/core/http/oauth-endpoint.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import { deleteGrant } from '../../shared/core/oauth/grant-repository.ts';

const RevocationForm = v.object({ token: v.string(), ...credentials });

export { Revoked as response } from '../../shared/core/oauth/presented.ts';

export const request = v.object({ body: RevocationForm });

export const docs = {
  tag: 'OAuth 2.0',
  summary: 'Revoke a token',
  description:
    'Revokes the whole grant, by either of its tokens (RFC 7009). An unknown token succeeds too.',
  fields: {
    token: 'An access token or a refresh token',
    client_id: 'The client id, unless sent by HTTP Basic',
    client_secret: 'The client secret, unless sent by HTTP Basic. A public application has none',
  },
  example: {
    token: 'rvr_…',
    client_id: '0123456789abcdef0123456789abcdef',
    client_secret: 'rvs_…',
  },
  errors: {
    invalid_request: 'A field is missing, sent twice or not valid.',
    invalid_grant: 'The token belongs to another client.',
    invalid_client: 'The client is unknown, or its secret is missing or wrong.',
  },
} satisfies Docs<typeof request>;

export const handler = oauthEndpoint(RevocationForm, async (client, { token }) => {
  const grant = (await openToken('refresh', token)) ?? (await openToken('access', token));
  // An unknown token is a success (RFC 7009 section 2.2).
  if (!grant) return {};
  if (grant.client_id !== client.client_id) throw invalidGrant('The token is of another client');
  await deleteGrant(grant);
  return {};
});
