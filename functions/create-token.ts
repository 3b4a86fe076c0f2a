import * as v from 'valibot';
import { ApiError, invalidGrant, invalidRequest, invalidScope } from '../shared/errors.ts';
import type { Docs } from '../shared/http/docs.ts';
import { type Form, oauthEndpoint } from '../shared/http/oauth-endpoint.ts';
import type { Application } from '../shared/oauth/application.ts';
import { TokenForm } from '../shared/oauth/forms.ts';
import { accessTokenLifetime, tokenResponse } from '../shared/oauth/grant.ts';
import { redeemCode, rotateRefreshToken } from '../shared/oauth/grant-repository.ts';
import { TokenResponse } from '../shared/oauth/presented.ts';
import { parseScopes } from '../shared/oauth/scopes.ts';
import type { Scope } from '../shared/routes.ts';

export const request = /* @__PURE__ */ v.object({ body: TokenForm });

export const response = TokenResponse;

export const docs = {
  tag: 'OAuth 2.0',
  summary: 'Get tokens',
  description:
    'For an authorization code, or for a refresh token, which is replaced: the answer has another one. Whoever lost the answer may repeat the request for 30 s. Any other use of a spent code or refresh token ends the whole grant.',
  fields: {
    grant_type: 'What the client has: a code, or a refresh token',
    code: 'The authorization code; good for 60 s, once',
    refresh_token: 'The refresh token',
    redirect_uri: 'Exactly the registered one',
    code_verifier: 'Needed where the authorization request had a `code_challenge` (RFC 7636)',
    scope: 'At a refresh: fewer scopes than were granted, for this access token',
    client_id: 'The client, unless it says so by HTTP Basic',
    client_secret: 'Its secret, unless it says so by HTTP Basic',
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
      'The code or refresh token is not good, or no longer; or the `redirect_uri` is another one.',
    invalid_scope: 'There is no such scope, or it was not granted.',
    unsupported_grant_type: '`grant_type` is neither of the two.',
    invalid_client: 'The client is unknown, or its secret is missing or wrong.',
  },
} satisfies Docs<typeof request>;

/** The token endpoint (RFC 6749 section 3.2): redeems codes and rotates refresh tokens. */
export const handler = oauthEndpoint(async (client, form) => {
  const grant_type = required(form, 'grant_type');
  if (grant_type === 'authorization_code') {
    const code = required(form, 'code');
    const redirect_uri = registered(form, client);
    return tokenResponse(await redeemCode(code, client.client_id, redirect_uri, verifier(form)));
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

/** The code verifier (RFC 7636 section 4.1). Throws ApiError 400 `invalid_grant` for what cannot be one. */
function verifier({ code_verifier }: Form): string | undefined {
  if (code_verifier && !/^[\w.~-]{43,128}$/.test(code_verifier)) {
    throw invalidGrant('code_verifier must be 43 to 128 letters, digits and -._~');
  }
  return code_verifier;
}

/** The scopes that a client asks for at a refresh (RFC 6749 section 6). Undefined for all that were granted. */
function narrower({ scope }: Form): Scope[] | undefined {
  if (scope === undefined) return undefined;
  const scopes = parseScopes(scope);
  if (!scopes) throw invalidScope('scope may hold review, vote and user');
  return scopes;
}
