import * as v from 'valibot';
import { described, Id } from '../described.ts';

const Uri = v.pipe(v.string(), v.url());

const RefreshToken = described(
  v.string(),
  'Exchange it for the next access token and refresh token',
  'rvr_…',
);

export const PresentedApplication = described(
  v.object({
    name: described(v.string(), 'The name on the consent page', 'Demo'),
    desc: described(v.string(), 'Its purpose', 'A demo'),
    website: described(Uri, 'Its website', 'https://client.example/'),
    redirect_uri: described(
      Uri,
      'The address that receives the answer',
      'https://client.example/callback',
    ),
    client_id: described(v.string(), 'Its public name', '0123456789abcdef0123456789abcdef'),
    client_secret: described(
      v.nullable(v.string()),
      'Its secret; `null` unless the calling application belongs to the user',
      'rvs_…',
    ),
    user_id: Id('Its owner', '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2'),
  }),
  'A registered application',
);
export type PresentedApplication = v.InferOutput<typeof PresentedApplication>;

export const ApplicationsResponse = v.object({ applications: v.array(PresentedApplication) });

export const TokenRecord = described(
  v.object({
    scopes: described(v.string(), 'Its scopes, separated by spaces', 'review vote'),
    client: PresentedApplication,
    refresh_token: described(
      v.nullable(v.string()),
      'Its refresh token; `null` unless the calling application is this one, or belongs to the user',
      'rvr_…',
    ),
  }),
  'A grant to an application',
);
export type TokenRecord = v.InferOutput<typeof TokenRecord>;

export const TokensResponse = v.object({ tokens: v.array(TokenRecord) });

/** The response of the token endpoint (RFC 6749 section 5.1). */
export const TokenResponse = described(
  v.object({
    access_token: described(v.string(), 'Goes into the header `Authorization: Bearer …`', 'rva_…'),
    token_type: described(v.literal('Bearer'), 'Always Bearer', 'Bearer'),
    expires_in: described(
      v.pipe(v.number(), v.integer()),
      'The lifetime of the access token, in seconds',
      3600,
    ),
    refresh_token: RefreshToken,
  }),
  'Tokens',
);
export type TokenResponse = v.InferOutput<typeof TokenResponse>;

const address = (description: string, path = '') =>
  described(Uri, description, `https://api.example/ws${path}`);
const list = (description: string, ...examples: string[]) =>
  described(v.array(v.string()), description, examples);
const methods = ['client_secret_post', 'client_secret_basic'];

export const ServerMetadata = described(
  v.object({
    issuer: address('The issuer of tokens'),
    authorization_endpoint: address('The authorization endpoint', '/oauth/authorize'),
    token_endpoint: address('The token endpoint', '/1/oauth/token'),
    revocation_endpoint: address('The revocation endpoint', '/1/oauth/revoke'),
    scopes_supported: list('The scopes', 'review', 'vote', 'user'),
    response_types_supported: list('Authorization codes', 'code'),
    response_modes_supported: list('How codes are returned', 'query'),
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
  }),
  "The authorization server's metadata (RFC 8414)",
);
export type ServerMetadata = v.InferOutput<typeof ServerMetadata>;

export const Revoked = described(v.object({}), 'The token is revoked');
