import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { scopes, version } from '../shared/routes.ts';

export const request = v.object({});

/** The authorization server's metadata (RFC 8414). */
export const handler = endpoint(request, () => {
  const issuer = authUrl();
  const methods = ['client_secret_post', 'client_secret_basic'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}${version}/oauth/token`,
    revocation_endpoint: `${issuer}${version}/oauth/revoke`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
});
