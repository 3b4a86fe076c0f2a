import * as v from 'valibot';
import { invalidGrant, invalidRequest, invalidScope } from '../../shared/base/errors.ts';
import { Matching } from '../../shared/base/values.ts';
import type { Docs } from '../../shared/core/http/endpoint.ts';
import { credentials, oauthEndpoint } from '../../shared/core/http/oauth-endpoint.ts';
import { accessTokenLifetime, tokenResponse } from '../../shared/core/oauth/grant.ts';
import { redeemCode, rotateRefreshToken } from '../../shared/core/oauth/grant-repository.ts';
import { parseScopes } from '../../shared/core/oauth/scopes.ts';

/** The form of the token endpoint, by `grant_type` (RFC 6749 sections 4.1.3 and 6). */
const TokenForm = v.variant(
  'grant_type',
  [
    v.object({
      grant_type: v.literal('authorization_code'),
      code: v.string(),
      redirect_uri: v.string(),
      code_verifier: v.optional(
        Matching(/^[\w.~-]{43,128}$/, 'must be 43 to 128 letters, digits and -._~'),
      ),
      ...credentials,
    }),
    v.object({
      grant_type: v.literal('refresh_token'),
      refresh_token: v.string(),
      redirect_uri: v.optional(v.string()),
      scope: v.optional(v.string()),
      ...credentials,
    }),
  ],
  'must be authorization_code or refresh_token',
);

export { TokenResponse as response } from '../../shared/core/oauth/presented.ts';

export const request = v.object({ body: TokenForm });

export const docs = {
  tag: 'OAuth 2.0',
  summary: 'Get tokens',
  description:
    'Exchanges an authorization code or a refresh token. Each answer has a new refresh token, which replaces the old one. If the answer was lost, repeat the request within 30 s. Any other use of a spent code or refresh token revokes the grant.',
  fields: {
    grant_type: 'The type of credential: a code or a refresh token',
    code: 'The authorization code. It is valid for 60 s, once',
    refresh_token: 'The refresh token',
    redirect_uri:
      'The registered URI, exactly. A refresh may leave it out, unless `client_secret` is in the form',
    code_verifier: 'Required if the authorization request had a `code_challenge` (RFC 7636)',
    scope: 'On refresh: fewer scopes than granted, for this access token',
    client_id: 'The client id, unless sent by HTTP Basic',
    client_secret: 'The client secret, unless sent by HTTP Basic. A public application has none',
  },
  example: {
    grant_type: 'authorization_code',
    code: 'rvc_…',
    redirect_uri: 'https://client.example/callback',
    client_id: '0123456789abcdef0123456789abcdef',
    client_secret: 'rvs_…',
  },
  errors: {
    invalid_request: 'A field is missing, sent twice or not valid.',
    invalid_grant:
      'The code or refresh token is invalid, expired or revoked, or the `redirect_uri` differs.',
    invalid_scope: 'The scope is unknown or was not granted.',
    unsupported_grant_type: '`grant_type` is neither `authorization_code` nor `refresh_token`.',
    invalid_client: 'The client is unknown, or its secret is missing or wrong.',
  },
} satisfies Docs<typeof request>;

/** The token endpoint (RFC 6749 section 3.2): redeems codes and rotates refresh tokens. */
export const handler = oauthEndpoint(TokenForm, async (client, form, authentication) => {
  if (form.redirect_uri === undefined) {
    // The specification demands it beside a secret in the form, RFC 6749 section 6 never.
    if (authentication === 'client_secret_post') {
      throw invalidRequest(
        'redirect_uri is required beside client_secret in the form; only HTTP Basic may leave it out',
      );
    }
  } else if (form.redirect_uri !== client.redirect_uri) {
    throw invalidGrant('redirect_uri must be exactly the registered one');
  }
  if (form.grant_type === 'authorization_code') {
    return tokenResponse(await redeemCode(form.code, client, form.code_verifier));
  }
  // By default, a refresh keeps all granted scopes (RFC 6749 section 6).
  const scopes = form.scope === undefined ? undefined : parseScopes(form.scope);
  if (form.scope !== undefined && !scopes) {
    throw invalidScope('scope may hold review, vote and user');
  }
  const grant = await rotateRefreshToken(form.refresh_token, client, scopes);
  return tokenResponse(grant, accessTokenLifetime, scopes);
});
