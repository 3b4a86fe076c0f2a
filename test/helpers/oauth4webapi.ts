import * as oauth from 'oauth4webapi';
import type { credentialsOn } from './browser.ts';

/**
 * Connects an application by this client library. `allow` takes the authorization URL, and returns
 * the URL that the browser is redirected to. The library requires `iss` there (RFC 9207).
 */
export async function connect(
  authUrl: string,
  method: (secret: string) => oauth.ClientAuth,
  { client_id, client_secret }: ReturnType<typeof credentialsOn>,
  { redirect_uri, scope }: { redirect_uri: string; scope: string },
  allow: (url: URL) => Promise<URL>,
) {
  const issuer = new URL(authUrl);
  const options = { [oauth.allowInsecureRequests]: issuer.protocol === 'http:' };
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
  const server = await oauth.processDiscoveryResponse(issuer, response);
  const client = { client_id };
  const all = [server, client, method(client_secret)] as const;
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const at = new URL(server.authorization_endpoint ?? '');
  at.search = `${new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })}`;
  const answer = oauth.validateAuthResponse(server, client, await allow(at), state);
  const rest = [answer, redirect_uri, verifier, options] as const;
  const granted = await oauth.authorizationCodeGrantRequest(...all, ...rest);
  return {
    server,
    tokens: await oauth.processAuthorizationCodeResponse(server, client, granted),
    async refresh(token = '') {
      const fields = { additionalParameters: { redirect_uri }, ...options };
      const refreshed = await oauth.refreshTokenGrantRequest(...all, token, fields);
      return oauth.processRefreshTokenResponse(server, client, refreshed);
    },
    async revoke(token: string) {
      const revoked = await oauth.revocationRequest(...all, token, options);
      await oauth.processRevocationResponse(revoked);
    },
  };
}
