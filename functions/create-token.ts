import { ApiError, invalidGrant, invalidRequest, invalidScope } from '../shared/errors.ts';
import { type Form, oauthEndpoint } from '../shared/http/oauth-endpoint.ts';
import type { Application } from '../shared/oauth/application.ts';
import { accessTokenLifetime, tokenResponse } from '../shared/oauth/grant.ts';
import { redeemCode, rotateRefreshToken } from '../shared/oauth/grant-repository.ts';
import { parseScopes } from '../shared/oauth/scopes.ts';
import type { Scope } from '../shared/routes.ts';

/** The token endpoint (RFC 6749 section 3.2): redeems codes and rotates refresh tokens. */
export const handler = oauthEndpoint(async (client, form) => {
  const grant_type = required(form, 'grant_type');
  if (grant_type === 'authorization_code') {
    const code = required(form, 'code');
    const redirect_uri = registered(form, client);
    return tokenResponse(
      await redeemCode(code, client.client_id, redirect_uri, form.code_verifier),
    );
  }
  if (grant_type === 'refresh_token') {
    const token = required(form, 'refresh_token');
    registered(form, client);
    const scopes = narrower(form);
    const grant = await rotateRefreshToken(token, client, scopes);
    return tokenResponse(grant, accessTokenLifetime, scopes);
  }
  throw new ApiError(
    400,
    'unsupported_grant_type',
    'grant_type must be authorization_code or refresh_token',
  );
});

function required(form: Form, name: string): string {
  const value = form[name];
  if (!value) throw invalidRequest(`${name} is required`);
  return value;
}

function registered(form: Form, { redirect_uri }: Application): string {
  if (required(form, 'redirect_uri') !== redirect_uri) {
    throw invalidGrant('redirect_uri must be exactly the registered one');
  }
  return redirect_uri;
}

/** The scopes that a client asks for at a refresh (RFC 6749 section 6). Undefined for all that were granted. */
function narrower({ scope }: Form): Scope[] | undefined {
  if (scope === undefined) return undefined;
  const scopes = parseScopes(scope);
  if (!scopes) throw invalidScope('scope may hold review, vote and user');
  return scopes;
}
