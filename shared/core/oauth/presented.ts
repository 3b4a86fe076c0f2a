// Responses about applications and tokens as the API describes them.
import * as v from 'valibot';
import { AnyText, described, Fields, Id, TextOrNull, Whole } from '../../base/described.ts';

const Uri = v.pipe(v.string(), v.url());

export const PresentedApplication = Fields('A registered application', {
  name: AnyText('The name on the consent page', 'Demo'),
  desc: AnyText('Its purpose', 'A demo'),
  website: described(Uri, 'Its website', 'https://client.example/'),
  redirect_uri: described(
    Uri,
    'The address that receives the answer',
    'https://client.example/callback',
  ),
  client_id: AnyText('Its public name', '0123456789abcdef0123456789abcdef'),
  client_secret: TextOrNull(
    'Its secret; `null` if it is public, or the calling application is of another owner',
    'rvs_…',
  ),
  user_id: Id('Its owner', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
});
export type PresentedApplication = v.InferOutput<typeof PresentedApplication>;

export const ApplicationsResponse = v.object({ applications: v.array(PresentedApplication) });

export const TokenRecord = Fields('A grant to an application', {
  scopes: AnyText('Its scopes, separated by spaces', 'review vote'),
  client: PresentedApplication,
  refresh_token: TextOrNull(
    'Its refresh token; `null` unless the calling application is this one, or belongs to the user',
    'rvr_…',
  ),
});

export const TokensResponse = v.object({ tokens: v.array(TokenRecord) });

/** The response of the token endpoint (RFC 6749 section 5.1). */
export const TokenResponse = Fields('Tokens', {
  access_token: AnyText('Goes into the header `Authorization: Bearer …`', 'rva_…'),
  token_type: described(v.literal('Bearer'), 'Always Bearer', 'Bearer'),
  expires_in: Whole('The lifetime of the access token, in seconds', 3600),
  refresh_token: AnyText('Exchange it for the next access token and refresh token', 'rvr_…'),
  scope: v.optional(
    AnyText('The scopes of the access token, separated by spaces. Absent if it has none', 'review'),
  ),
});
export type TokenResponse = v.InferOutput<typeof TokenResponse>;

const address = (description: string, path = '') =>
  described(Uri, description, `https://api.example/ws${path}`);
const list = (description: string, ...examples: string[]) =>
  described(v.array(v.string()), description, examples);
const methods = ['client_secret_basic', 'client_secret_post', 'none'];

export const ServerMetadata = Fields("The authorization server's metadata (RFC 8414)", {
  issuer: address('The issuer of tokens'),
  authorization_endpoint: address('The authorization endpoint', '/oauth/authorize'),
  token_endpoint: address('The token endpoint', '/1/oauth/token'),
  revocation_endpoint: address('The revocation endpoint', '/1/oauth/revoke'),
  service_documentation: address('The guide for developers', '/docs/oauth'),
  scopes_supported: list('The scopes', 'review', 'vote', 'user'),
  response_types_supported: list('Authorization codes', 'code'),
  response_modes_supported: list('The ways to return a code', 'query'),
  grant_types_supported: list(
    'Grant types of the token endpoint',
    'authorization_code',
    'refresh_token',
  ),
  token_endpoint_auth_methods_supported: list(
    'Client authentication at the token endpoint',
    ...methods,
  ),
  revocation_endpoint_auth_methods_supported: list('The same', ...methods),
  code_challenge_methods_supported: list('PKCE (RFC 7636)', 'S256'),
  authorization_response_iss_parameter_supported: described(
    v.boolean(),
    'The answer names its issuer (RFC 9207)',
    true,
  ),
});
export type ServerMetadata = v.InferOutput<typeof ServerMetadata>;

export const Revoked = Fields('The token is revoked', {});
