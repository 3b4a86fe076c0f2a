import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { ServerMetadata } from '../../shared/oauth/presented.ts';
import { scopes, version } from '../../shared/routes.ts';

export const request = v.object({});

export const response = ServerMetadata;

export const docs = {
  tag: 'OAuth 2.0',
  summary: 'Discover the authorization server',
  description: 'The metadata of RFC 8414. Client libraries configure themselves from its address.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, (): v.InferOutput<typeof response> => {
  const issuer = authUrl();
  const methods = ['client_secret_post', 'client_secret_basic'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}${version}/oauth/token`,
    revocation_endpoint: `${issuer}${version}/oauth/revoke`,
    scopes_supported: [...scopes],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
});
