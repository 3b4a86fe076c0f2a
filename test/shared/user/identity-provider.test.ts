import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ApiError } from '../../../shared/errors.ts';
import { silenceAll } from '../../helpers/console.ts';
import { serve } from '../../helpers/listen.ts';

/** The answer of the provider's token endpoint. */
let answer = { status: 200, type: 'application/json', body: '{}', headers: {} };
const requests: string[] = [];

const own = await generateKeyPair('RS256');
const foreign = await generateKeyPair('RS256');
const keys = [{ ...(await exportJWK(own.publicKey)), alg: 'RS256', use: 'sig', kid: 'one' }];

const issuer = await serve(
  createServer(async (request, response) => {
    if (request.url === '/.well-known/openid-configuration') {
      response.setHeader('Content-Type', 'application/json').end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        }),
      );
      return;
    }
    if (request.url === '/keys') {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }));
      return;
    }
    requests.push(await text(request));
    const { status, type, body, headers } = answer;
    response.writeHead(status, { 'Content-Type': type, ...headers }).end(body);
  }),
);
Object.assign(process.env, {
  AUTH_URL: 'https://reviews.example.org/ws',
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: 'reviews',
  OIDC_CLIENT_SECRET: 'a secret of some length',
});
const { beginSignIn, finishSignIn } = await import('../../../shared/user/identity-provider.ts');

const errors = silenceAll('error');
const warnings = silenceAll('warn');
beforeEach(() => {
  requests.length = 0;
});

/** Finishes a sign-in with a token endpoint that answers so. Returns the status of its error. */
async function statusAfter(given: Partial<typeof answer>, query?: string) {
  answer = { status: 400, type: 'application/json', headers: {}, body: '{}', ...given };
  const checks = await beginSignIn();
  const error = await finishSignIn(query ?? `code=x&state=${checks.state}`, checks).catch(
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error;
  return error.status;
}
const refusal = (error: string) => ({ body: JSON.stringify({ error }) });
const page = { type: 'text/html', body: '<h1>Sorry</h1>' };

describe('a sign-in that fails for everybody is the service’s failure: 503', () => {
  test.each([
    ['the client secret is wrong', { status: 401, ...refusal('invalid_client') }],
    [
      'the client secret is wrong, with a challenge',
      {
        status: 401,
        headers: { 'WWW-Authenticate': 'Basic realm="provider"' },
        ...refusal('invalid_client'),
      },
    ],
    ['the client may do this no more', refusal('unauthorized_client')],
    ['the provider has an error page', { status: 503, ...page }],
    ['the provider has an error', { status: 500, ...refusal('server_error') }],
    ['a proxy answers in its place', { status: 200, ...page }],
    ['the answer is cut off', { status: 200, body: '{"access_token":' }],
  ])('%s', async (_, given) => {
    expect(await statusAfter(given)).toBe(503);
    expect(requests).toHaveLength(1);
    expect(errors.mock.calls).toHaveLength(1);
    expect(errors.mock.calls[0]?.[0]).toMatchObject({
      message: 'The identity provider cannot be reached, or refuses this service',
    });
    expect(JSON.stringify(errors.mock.calls)).not.toContain('a secret of');
    expect(warnings).not.toHaveBeenCalled();
  });
});

describe('a sign-in that fails for one person is theirs: 400', () => {
  test.each([
    ['the code is used or too old', refusal('invalid_grant'), undefined],
    ['the state is another', {}, 'code=x&state=other'],
    ['the person canceled', {}, 'error=access_denied&state=STATE'],
    // Anybody can write this.
    ['the query says that the provider has an error', {}, 'error=server_error&state=STATE'],
  ])('%s', async (_, given, query) => {
    expect(await statusAfter(given, query)).toBe(400);
    expect(errors).not.toHaveBeenCalled();
    expect(warnings.mock.calls[0]?.[0]).toMatchObject({ message: 'A sign-in failed' });
  });
});

describe('the ID token of a provider without TLS', () => {
  /** Signs in with a token about Ann that this key has signed. */
  async function signInBy(key: typeof own.privateKey) {
    const checks = await beginSignIn();
    const id_token = await new SignJWT({ nonce: checks.nonce, name: 'Ann', email: 'ann@x.example' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(issuer)
      .setSubject('ann')
      .setAudience('reviews')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(key);
    const body = JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token });
    answer = { status: 200, type: 'application/json', headers: {}, body };
    return finishSignIn(`code=x&state=${checks.state}`, checks);
  }

  test('signs a person in by the key that the provider publishes', async () => {
    const { identity } = await signInBy(own.privateKey);
    expect(identity).toMatchObject({ issuer, subject: 'ann', display_name: 'Ann' });
  });

  test('signs nobody in by another key: 400', async () => {
    await expect(signInBy(foreign.privateKey)).rejects.toHaveStatus(400);
  });
});
