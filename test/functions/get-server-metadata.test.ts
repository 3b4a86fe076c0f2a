import { handler } from '../../functions/api/get-server-metadata.ts';
import { matchRoute } from '../../shared/core/http/match-route.ts';
import { guides } from '../../shared/features/docs/guides.ts';
import { invoke } from '../helpers/invoke.ts';

test.each(['https://api.example/ws', 'http://localhost:3000/ws'])(
  'GET /.well-known/oauth-authorization-server returns the endpoints of %s',
  async (issuer) => {
    process.env.AUTH_URL = issuer;
    const { status, headers, body } = await invoke(handler);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/1/oauth/token`,
      revocation_endpoint: `${issuer}/1/oauth/revoke`,
      service_documentation: `${issuer}/docs/oauth`,
      scopes_supported: ['review', 'vote', 'user'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'none',
      ],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    for (const [name, method] of [
      ['authorization', 'GET'],
      ['token', 'POST'],
      ['revocation', 'POST'],
    ] as const) {
      expect(matchRoute(method, body[`${name}_endpoint`].slice(issuer.length))).toBeDefined();
    }
    const guide = body.service_documentation.slice(`${issuer}/docs/`.length);
    expect(guides.map(({ slug }) => slug)).toContain(guide);
  },
);
