import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { ApiError } from '../../../../shared/base/errors.ts';
import { countMetrics, silenceAll } from '../../../helpers/console.ts';
import { serve } from '../../../helpers/listen.ts';

/** The answer of the provider's token endpoint. */
let answer = { status: 200, type: 'application/json', body: '{}', headers: {} };
const requests: string[] = [];

const own = await generateKeyPair('RS256');
const foreign = await generateKeyPair('RS256');
const publish = async (key: typeof own, kid: string) => [
  { ...(await exportJWK(key.publicKey)), alg: 'RS256', use: 'sig', kid },
];
let keys = await publish(own, 'one');

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
const { beginSignIn, finishSignIn } = await import(
  '../../../../shared/features/account/identity-provider.ts'
);
const { providerFault } = await import('../../../../shared/core/user/provider-fault.ts');

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

interface Token {
  key?: typeof own.privateKey | Uint8Array;
  alg?: string;
  kid?: string;
  /** Seconds by which the clock of the provider is ahead. */
  ahead?: number;
  claims?: Record<string, unknown>;
}

/** Signs in with an ID token about Ann. */
async function signInBy({
  key = own.privateKey,
  alg = 'RS256',
  kid = 'one',
  ahead = 0,
  claims,
}: Token = {}) {
  const checks = await beginSignIn();
  const now = Math.floor(Date.now() / 1000) + ahead;
  const said = { nonce: checks.nonce, name: 'Ann', email: 'ann@x.example', ...claims };
  const id_token = await new SignJWT(said)
    .setProtectedHeader({ alg, kid })
    .setIssuer(issuer)
    .setSubject('ann')
    .setAudience('reviews')
    .setIssuedAt(now)
    .setExpirationTime(now + 300)
    .sign(key);
  const body = JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token });
  answer = { status: 200, type: 'application/json', headers: {}, body };
  return finishSignIn(`code=x&state=${checks.state}`, checks);
}

describe('the ID token', () => {
  test('signs a person in by the key that the provider publishes', async () => {
    const { identity } = await signInBy();
    expect(identity).toMatchObject({ issuer, subject: 'ann', proposed_name: 'Ann' });
    // Nobody has chosen the name at the provider as a public one.
    expect(identity.display_name).toBeNull();
  });

  test('signs people in right after the provider has replaced its key', async () => {
    await signInBy();
    const next = await generateKeyPair('RS256');
    keys = await publish(next, 'two');
    const { identity } = await signInBy({ key: next.privateKey, kid: 'two' });
    expect(identity.subject).toBe('ann');
    keys = await publish(own, 'one');
  });

  test.each<[string, Token]>([
    ['another key', { key: foreign.privateKey }],
    ['a key that is not published', { kid: 'three' }],
    ['a shared secret', { key: Buffer.alloc(32, 'x'), alg: 'HS256' }],
    ['a clock ten minutes behind ours', { ahead: -600 }],
    ['a nonce of another sign-in', { claims: { nonce: 'other' } }],
  ])('of %s is the provider’s fault: 503, a metric, and a word in health', async (_, token) => {
    const counted = countMetrics();
    await expect(signInBy(token)).rejects.toHaveStatus(503);
    expect(counted).toEqual(['Unavailable']);
    expect(errors.mock.calls[0]?.[0]).toMatchObject({ code: expect.stringMatching(/^OAUTH_/) });
    expect(providerFault()).toMatch(/^Nobody can sign in: .* \(OAUTH_\w+\)/);
    await signInBy();
    expect(providerFault()).toBeUndefined();
  });

  test('that a person did not get is no fault of the provider', async () => {
    await expect(statusAfter(refusal('invalid_grant'))).resolves.toBe(400);
    await expect(statusAfter({ status: 500, ...page })).resolves.toBe(503);
    expect(providerFault()).toBeUndefined();
  });
});

test('a provider that could not be asked for the address says nothing about it', async () => {
  const withoutEmail = { claims: { email: undefined } };
  // It has no UserInfo endpoint, so there is no address.
  expect((await signInBy(withoutEmail)).identity.email).toBeNull();
});
