import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { scopes, version } from '../../shared/base/routes.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { ServerMetadata } from '../../shared/core/oauth/presented.ts';

export const request = v.object({});

export const response = ServerMetadata;

export const docs = {
  tag: 'OAuth 2.0',
  summary: 'Discover the authorization server',
  description: 'The metadata of RFC 8414. Client libraries configure themselves from its address.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, (): v.InferOutput<typeof response> => {
  const issuer = authUrl();
  // A library that takes the first one can refresh as it comes.
  const methods = ['client_secret_basic', 'client_secret_post', 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}${version}/oauth/token`,
    revocation_endpoint: `${issuer}${version}/oauth/revoke`,
    service_documentation: `${issuer}/docs/oauth`,
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
