import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { callerOf } from '../helpers/api.ts';
import { credentialsOn, openAs } from '../helpers/browser.ts';
import { connect } from '../helpers/oauth4webapi.ts';
import { startTestStack } from '../helpers/stack.ts';

// These libraries have no types.
const require = createRequire(import.meta.url);
const { AuthorizationCode } = require('simple-oauth2');
const OAuth2Strategy = require('passport-oauth2');

const { url, authUrl: issuer } = await startTestStack();

const redirect_uri = 'http://localhost:9/callback';
const name = 'Ann O’Reader';
// The developer is also the user.
const { browser } = await openAs(issuer, name);
const credentials = credentialsOn(await browser.register({ name: 'Library', redirect_uri }));
const { client_id, client_secret } = credentials;

/** Allows access. Returns the URL that the browser is redirected to. */
async function allow(authorizationUrl: URL | string) {
  const consent = await browser.visit(`${authorizationUrl}`);
  expect(consent.html).toContain('Let Library use your account?');
  return new URL((await browser.allow(consent)).url);
}

async function profile(access_token: string) {
  const { status, body } = await callerOf(url, access_token)('GET', '/user/me');
  return { status, name: body.user?.display_name ?? '' };
}

/** Revokes access on the page of connected applications, as a user does. */
async function revoke(access_token: string) {
  const connections = await browser.visit('account/connections');
  const after = await browser.submit(connections, 'Revoke access');
  expect(after.html).toContain('No application is connected.');
  expect(await profile(access_token)).toHaveStatus(401);
}

// With HTTP Basic, libraries refresh as they come (RFC 6749 section 6). With the secret in the
// form, the specification of the service also demands the redirect URI.
describe.each([
  [openid.ClientSecretPost, { redirect_uri }],
  [openid.ClientSecretBasic, undefined],
])('openid-client, %p', (method, more) => {
  test('completes the whole OAuth flow', async () => {
    const execute = [openid.allowInsecureRequests];
    const options = { algorithm: 'oauth2' as const, execute };
    const authentication = method(client_secret);
    const config = await openid.discovery(new URL(issuer), client_id, {}, authentication, options);
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const callback = await allow(
      openid.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: 'review vote',
        state: expectedState,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      }),
    );
    const tokens = await openid.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState,
    });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: expect.any(Number) });
    expect(await profile(tokens.access_token)).toEqual({ status: 200, name });

    expect(tokens.scope).toBe('review vote');

    const again = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', more);
    expect(await profile(again.access_token)).toEqual({ status: 200, name });
    const me = new URL(`${url}/user/me`);
    const resource = await openid.fetchProtectedResource(config, again.access_token, me, 'GET');
    expect(await resource.json()).toHaveProperty('user.display_name', name);

    await openid.tokenRevocation(config, again.refresh_token ?? '');
    expect(await profile(again.access_token)).toHaveStatus(401);
    await expect(
      openid.refreshTokenGrant(config, again.refresh_token ?? '', more),
    ).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
  });
});

test('oauth4webapi completes the whole OAuth flow', async () => {
  const asked = { redirect_uri, scope: 'user' };
  const method = oauth.ClientSecretBasic;
  const { tokens, refresh } = await connect(issuer, method, credentials, asked, allow);
  expect(await profile(tokens.access_token)).toEqual({ status: 200, name });
  const again = await refresh(tokens.refresh_token);
  expect(again.refresh_token).not.toBe(tokens.refresh_token);

  await revoke(again.access_token);
  await expect(refresh(again.refresh_token)).rejects.toMatchObject({ error: 'invalid_grant' });
});

describe.each([
  ['header', {}],
  ['body', { redirect_uri }],
])('simple-oauth2, secret in the %s', (method, more) => {
  test('completes the whole OAuth flow', async () => {
    const client = new AuthorizationCode({
      client: { id: client_id, secret: client_secret },
      auth: {
        tokenHost: url,
        tokenPath: `${new URL(url).pathname}/oauth/token`,
        authorizeHost: issuer,
        authorizePath: `${new URL(issuer).pathname}/oauth/authorize`,
        revokePath: `${new URL(url).pathname}/oauth/revoke`,
      },
      options: { authorizationMethod: method },
    });
    const state = `${randomUUID()} +%&=é`;
    const scope = ['review', 'vote'];
    const callback = await allow(client.authorizeURL({ redirect_uri, scope, state }));
    expect(callback.searchParams.get('state')).toBe(state);
    const code = callback.searchParams.get('code');
    const token = await client.getToken({ code, redirect_uri });
    expect(token.expired()).toBe(false);
    expect(await profile(token.token.access_token)).toEqual({ status: 200, name });

    const again = await token.refresh(more);
    expect(await profile(again.token.access_token)).toEqual({ status: 200, name });
    await again.revoke('refresh_token');
    expect(await profile(again.token.access_token)).toHaveStatus(401);
    await expect(again.refresh(more)).rejects.toMatchObject({
      data: { payload: { error: 'invalid_grant' } },
    });
  });
});

describe.each([true, false])('passport-oauth2, pkce: %s', (pkce) => {
  test('completes the whole OAuth flow', async () => {
    const strategy = new OAuth2Strategy(
      {
        authorizationURL: `${issuer}/oauth/authorize`,
        tokenURL: `${url}/oauth/token`,
        clientID: client_id,
        clientSecret: client_secret,
        callbackURL: redirect_uri,
        scope: ['review', 'user'],
        state: true,
        pkce,
      },
      (
        access_token: string,
        refresh_token: string,
        _: unknown,
        done: (...args: unknown[]) => void,
      ) => done(null, { access_token, refresh_token }),
    );
    const session = {};
    // Passport adds these methods to a strategy.
    const run = (query: object) =>
      new Promise<{ location?: string; user?: { access_token: string; refresh_token: string } }>(
        (resolve, reject) => {
          const actions = {
            redirect: (location: string) => resolve({ location }),
            success: (user: never) => resolve({ user }),
            fail: (info: unknown) => reject(new Error(JSON.stringify(info))),
            error: reject,
          };
          Object.assign(Object.create(strategy), actions).authenticate({ query, session });
        },
      );
    const { location = '' } = await run({});
    const callback = await allow(location);
    const { user } = await run(Object.fromEntries(callback.searchParams));
    expect(await profile(user?.access_token ?? '')).toEqual({ status: 200, name });

    const refresh = (token: string) =>
      new Promise<[string, string]>((resolve, reject) => {
        const parameters = { grant_type: 'refresh_token', redirect_uri };
        strategy._oauth2.getOAuthAccessToken(
          token,
          parameters,
          (error: unknown, access: string, next: string) =>
            error ? reject(error) : resolve([access, next]),
        );
      });
    const [access_token, refresh_token] = await refresh(user?.refresh_token ?? '');
    expect(await profile(access_token)).toEqual({ status: 200, name });
    await revoke(access_token);
    await expect(refresh(refresh_token)).rejects.toMatchObject({
      statusCode: 400,
      data: expect.stringContaining('invalid_grant'),
    });
  });
});
