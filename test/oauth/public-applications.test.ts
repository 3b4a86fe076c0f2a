import { callerOf } from '../helpers/api.ts';
import { headingOf, noticeOn, openAs, openBrowser, type Shown } from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startTestStack } from '../helpers/stack.ts';

// Applications without a secret (RFC 6749 section 2.1), and the attacks that were tried on them.

const { url, authUrl: issuer } = await startTestStack();

const { getOwnApplication, setClientType } = await import(
  '../../shared/core/oauth/application-repository.ts'
);
const { answerAuthorization, insertAuthorizationRequest } = await import(
  '../../shared/core/oauth/authorization-repository.ts'
);
const { makeUser } = await import('../helpers/world.ts');
const { basic, challenge, formOf, makeClient, makeCode, verifier, withSecret } = await import(
  '../helpers/oauth-client.ts'
);

const redirect_uri = 'https://client.example/callback';
const owner = await makeUser();
const client = await makeClient(owner, redirect_uri, 'Page', 'public');
const { client_id } = client;
const { browser, id } = await openAs(issuer, 'Ann');
const ann = { id };

type Form = Record<string, string | undefined>;

/** Fields of an answer of the OAuth endpoints. */
type Body = Record<
  'access_token' | 'refresh_token' | 'scope' | 'error' | 'error_description',
  string
>;

/** Posts a form to an OAuth endpoint, as a page of another origin does. */
async function post(path: string, form: Form, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Origin: 'https://client.example',
      ...headers,
    },
    body: formOf(form),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  };
}

const redeem = (code: string, form: Form = {}, headers = {}) =>
  post(
    '/oauth/token',
    {
      grant_type: 'authorization_code',
      code,
      client_id,
      redirect_uri,
      code_verifier: verifier,
      ...form,
    },
    headers,
  );

const refresh = (refresh_token: string, form: Form = {}, headers = {}) =>
  post('/oauth/token', { grant_type: 'refresh_token', refresh_token, client_id, ...form }, headers);

const codeOf = (of = client) =>
  makeCode(of, ann, { code_challenge: challenge, scopes: ['review'] });

/** Returns the tokens of a new grant. */
async function tokens() {
  const { status, body } = await redeem(await codeOf());
  expect(status).toBe(200);
  return body as { access_token: string; refresh_token: string };
}

const isAccepted = async (token: string) =>
  (await callerOf(url, token)('GET', '/user/me')).status === 200;

function expectError(
  { status, body }: Awaited<ReturnType<typeof post>>,
  error: string,
  expected = 400,
) {
  expect({ status, error: body.error }).toEqual({ status: expected, error });
}

const query = {
  response_type: 'code',
  client_id,
  redirect_uri,
  scope: 'review',
  state: 'abc',
  code_challenge: challenge,
  code_challenge_method: 'S256',
};

const authorize = (changes: Form = {}) => `oauth/authorize?${formOf({ ...query, ...changes })}`;

/** Returns the parameters that come back to the application. */
function sentBack(shown: Shown): Record<string, string> {
  expect(shown.url.startsWith(`${redirect_uri}?`)).toBe(true);
  return Object.fromEntries(new URL(shown.url).searchParams);
}

test('a public application signs a person in without a secret, by PKCE', async () => {
  const consent = await browser.visit(authorize());
  expect(headingOf(consent)).toBe('Let Page use your account?');
  expect(consent.html).toContain('Its name is not proven.');
  const { code = '', ...answer } = sentBack(await browser.allow(consent));
  expect(answer).toEqual({ state: 'abc', iss: issuer });
  const first = await redeem(code);
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({ token_type: 'Bearer', scope: 'review' });
  // Any page may read the answer (CORS).
  expect(first.headers.get('access-control-allow-origin')).toBe('*');
  const next = await refresh(first.body.refresh_token);
  expect(next.status).toBe(200);
  expect(next.body.refresh_token).not.toBe(first.body.refresh_token);
  expect(await isAccepted(next.body.access_token)).toBe(true);
  const { status } = await post('/oauth/revoke', { token: next.body.refresh_token, client_id });
  expect(status).toBe(200);
  expect(await isAccepted(next.body.access_token)).toBe(false);
});

test('only a public application is said to have no proven name', async () => {
  const other = await makeClient(owner, redirect_uri, 'Server');
  const consent = await browser.visit(authorize({ client_id: other.client_id }));
  expect(headingOf(consent)).toBe('Let Server use your account?');
  expect(consent.html).not.toContain('not proven');
});

describe('an authorization request', () => {
  // Ann has connected the application, so its errors come back to it.
  beforeAll(tokens);

  test.each<[string, Form]>([
    ['without a challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with an empty challenge', { code_challenge: '' }],
    ['with the method alone', { code_challenge: undefined }],
    ['with the method plain', { code_challenge: verifier, code_challenge_method: 'plain' }],
    ['whose method defaults to plain', { code_challenge_method: undefined }],
    ['with another method', { code_challenge_method: 's256' }],
    ['with half a challenge', { code_challenge: challenge.slice(1) }],
  ])('%s is refused', async (_, changes) => {
    expect(sentBack(await browser.visit(authorize(changes)))).toMatchObject({
      error: 'invalid_request',
      state: 'abc',
    });
  });

  test.each([
    'https://client.example/callback/',
    'https://client.example/callback?x=1',
    'https://client.example/callback#x',
    'https://client.example/call%62ack',
    'https://CLIENT.example/callback',
    'https://client.example:443/callback',
    'https://client.example./callback',
    'https://client.example.evil.example/callback',
    'https://client.example@evil.example/callback',
    'https://сlient.example/callback',
    'http://client.example/callback',
    'http://localhost/callback',
  ])('to the look-alike %s shows an error page', async (uri) => {
    const shown = await browser.visit(authorize({ redirect_uri: uri }));
    expect(shown).toMatchObject({ status: 400 });
    expect(headingOf(shown)).toBe('Page was not connected');
  });

  test('of somebody who is signed out never leads to the application', async () => {
    const shown = await openBrowser(issuer).visit(authorize({ code_challenge: undefined }));
    expect(new URL(shown.url).origin).toBe(new URL(issuer).origin);
  });
});

describe('a code', () => {
  test.each<[string, Form, string]>([
    ['without the verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['with another verifier', { code_verifier: `x${verifier.slice(1)}` }, 'invalid_grant'],
    ['with the challenge for a verifier', { code_verifier: challenge }, 'invalid_grant'],
    ['with a short verifier', { code_verifier: verifier.slice(1) }, 'invalid_grant'],
    ['without redirect_uri', { redirect_uri: undefined }, 'invalid_request'],
    ['with another redirect_uri', { redirect_uri: `${redirect_uri}/` }, 'invalid_grant'],
  ])('that was stolen, %s, is refused, and stays valid', async (_, form, error) => {
    const code = await codeOf();
    expectError(await redeem(code, form), error);
    expect(await redeem(code)).toMatchObject({ status: 200 });
  });

  test.each<[string, Form, Record<string, string>]>([
    ['a made-up secret', { client_secret: 'rvs_x' }, {}],
    ['HTTP Basic without a secret', {}, basic(client_id, '')],
    ['HTTP Basic with a secret', {}, basic(client_id, 'rvs_x')],
    ['HTTP Basic alone', { client_id: undefined }, basic(client_id, '')],
  ])('with %s is refused: the application has none', async (_, form, headers) => {
    const code = await codeOf();
    const refused = await redeem(code, form, headers);
    expectError(refused, 'invalid_client', 401);
    expect(refused.body.error_description).toBe(
      'The application is public: send client_id in the form, and no secret',
    );
    expect(await redeem(code)).toMatchObject({ status: 200 });
  });

  test('without client_id is refused', async () => {
    expectError(await redeem(await codeOf(), { client_id: undefined }), 'invalid_client', 401);
  });

  test('of a person for one application is of no use at another (mix-up)', async () => {
    const evil = await makeClient(await makeUser(), redirect_uri, 'Evil', 'public');
    const secret = await makeClient(await makeUser(), redirect_uri, 'Server');
    const code = await codeOf();
    expectError(await redeem(code, { client_id: evil.client_id }), 'invalid_grant');
    const { client_id, client_secret } = secret;
    expectError(await redeem(code, { client_id, client_secret }), 'invalid_grant');
    expect(await redeem(code)).toMatchObject({ status: 200 });
    // And the other way round.
    const others = await codeOf(secret);
    expectError(await redeem(others), 'invalid_grant');
    expectError(await redeem(others, { client_id }), 'invalid_client', 401);
  });

  test('is redeemed once: a second time revokes what it granted', async () => {
    const code = await codeOf();
    const { body } = await redeem(code);
    expectError(await redeem(code), 'invalid_grant');
    expect(await isAccepted(body.access_token)).toBe(false);
  });
});

test('a confidential application cannot leave its secret out', async () => {
  const secret = await makeClient(owner, redirect_uri, 'Server');
  const { client_id, client_secret } = secret;
  const code = await codeOf(secret);
  expectError(await redeem(code, { client_id }), 'invalid_client', 401);
  const { body } = await redeem(code, { client_id, client_secret });
  expectError(await refresh(body.refresh_token, { client_id }), 'invalid_client', 401);
  const revocation = await post('/oauth/revoke', { token: body.refresh_token, client_id });
  expectError(revocation, 'invalid_client', 401);
  expect(await isAccepted(body.access_token)).toBe(true);
});

describe('a refresh', () => {
  test.each<[string, Form]>([
    ['without redirect_uri', {}],
    ['with the registered one', { redirect_uri }],
  ])('%s succeeds', async (_, form) => {
    expect(await refresh((await tokens()).refresh_token, form)).toMatchObject({ status: 200 });
  });

  test.each<[string, Form, string, number?]>([
    ['another redirect_uri', { redirect_uri: 'https://evil.example/' }, 'invalid_grant', 400],
    ['a secret', { client_secret: 'rvs_x' }, 'invalid_client', 401],
    ['no client_id', { client_id: undefined }, 'invalid_client', 401],
  ])('with %s is refused, and the token stays valid', async (_, form, error, status) => {
    const { refresh_token } = await tokens();
    expectError(await refresh(refresh_token, form), error, status);
    expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
  });

  test('in two tabs at once gives both the same tokens', async () => {
    const { refresh_token } = await tokens();
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(await refresh(`${answers[0]?.body.refresh_token}`)).toMatchObject({ status: 200 });
  });

  test('with a stolen token revokes the grant, whoever comes second', async () => {
    const stolen = await tokens();
    const { body: second } = await refresh(stolen.refresh_token);
    const { body: third } = await refresh(second.refresh_token);
    expectError(await refresh(stolen.refresh_token), 'invalid_grant');
    expectError(await refresh(third.refresh_token), 'invalid_grant');
    expect(await isAccepted(third.access_token)).toBe(false);
  });

  test('half a minute later revokes it too', async () => {
    const { refresh_token } = await tokens();
    const { body } = await refresh(refresh_token);
    stopClock(Date.now() + 31_000);
    expectError(await refresh(refresh_token), 'invalid_grant');
    expect(await isAccepted(body.access_token)).toBe(false);
  });

  test('of another application is refused', async () => {
    const other = await makeClient(owner, redirect_uri, 'Other', 'public');
    const { refresh_token } = await tokens();
    const form = { client_id: other.client_id };
    expectError(await refresh(refresh_token, form), 'invalid_grant');
    const revocation = await post('/oauth/revoke', { token: refresh_token, ...form });
    expectError(revocation, 'invalid_grant');
    expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
  });
});

describe('a change', () => {
  const own = (of: { client_id: string }) => getOwnApplication(of.client_id, owner.id);

  test('to public ends the secrets and all access', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing');
    const { client_id, client_secret } = changing;
    const code = await makeCode(changing, ann);
    const challenged = await codeOf(changing);
    const { body } = await redeem(await codeOf(changing), { client_id, client_secret });
    stopClock(Date.now() + 2_000);
    await setClientType(client_id, owner.id, 'public');
    expect(await own(changing)).not.toHaveProperty('secret_id');
    expect(await isAccepted(body.access_token)).toBe(false);
    expectError(await refresh(body.refresh_token, { client_id }), 'invalid_grant');
    // Ann has allowed an application with a proven name.
    expectError(await redeem(challenged, { client_id }), 'invalid_grant');
    // Nor can anybody redeem a code without PKCE that was given before.
    const plain = { client_id, code_verifier: undefined };
    expectError(await redeem(code, plain), 'invalid_grant');
    // Or after it, for a request from before it.
    stopClock(Date.now() + 2_000);
    expectError(await redeem(await makeCode(changing, ann), plain), 'invalid_grant');
    expect(await redeem(await codeOf(changing), { client_id })).toMatchObject({ status: 200 });
    // Again it changes nothing, and ends nothing.
    const before = await own(changing);
    await setClientType(client_id, owner.id, 'public');
    expect(await own(changing)).toEqual(before);
  });

  test('while a person is asked needs another question', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing');
    const { client_id, name } = changing;
    const ask = () =>
      insertAuthorizationRequest({
        client_id,
        name,
        redirect_uri,
        scopes: [],
        state: null,
        code_challenge: challenge,
      });
    const before = await ask();
    stopClock(Date.now() + 2_000);
    await setClientType(client_id, owner.id, 'public');
    // The page said nothing of a name that is not proven.
    await expect(answerAuthorization(before, 'approve', id)).rejects.toHaveStatus(400);
    stopClock(Date.now() + 2_000);
    const after = await ask();
    const { code } = await answerAuthorization(after, 'approve', id);
    expect(await redeem(`${code}`, { client_id })).toMatchObject({ status: 200 });
    // The same answer again gives the same code.
    expect(await answerAuthorization(after, 'approve', id)).toMatchObject({ code });
  });

  test('to confidential asks refresh tokens for the secret', async () => {
    const changing = await makeClient(owner, redirect_uri, 'Changing', 'public');
    const { client_id } = changing;
    const { body } = await redeem(await codeOf(changing), { client_id });
    await setClientType(client_id, owner.id, 'confidential');
    const { client_secret } = await withSecret(await own(changing));
    expect(client_secret).toMatch(/^rvs_/);
    expectError(await refresh(body.refresh_token, { client_id }), 'invalid_client', 401);
    const form = { client_id, client_secret, redirect_uri };
    expect(await refresh(body.refresh_token, form)).toMatchObject({ status: 200 });
    await setClientType(client_id, owner.id, 'confidential');
    expect((await withSecret(await own(changing))).client_secret).toBe(client_secret);
  });

  test('of another person is refused', async () => {
    const { id: stranger } = await makeUser();
    for (const type of ['public', 'confidential'] as const) {
      await expect(setClientType(client_id, stranger, type)).rejects.toHaveStatus(404);
    }
  });
});

describe('on the pages of its owner', () => {
  const registered = (fields: Record<string, string>) =>
    browser.register({ name: 'Mine', redirect_uri, ...fields });
  const clientIdOn = ({ url }: Shown) => /[\da-f]{32}$/.exec(url)?.[0] ?? '';

  test('a public application is registered without a secret', async () => {
    const shown = await registered({ client_type: 'public' });
    expect(noticeOn(shown)).toBe('The application is registered. Its credentials are below.');
    expect(shown.html).toContain('None. This application is public');
    expect(shown.html).not.toMatch(/rvs_|Create new secret|Make public/);
    const application = await getOwnApplication(clientIdOn(shown), id);
    expect(application).not.toHaveProperty('secret_id');
  });

  test('a confidential one is the default, and becomes public and confidential again', async () => {
    const shown = await registered({});
    const first = /rvs_[\w-]+/.exec(shown.html)?.[0];
    expect(first).toBeDefined();
    const unsure = await browser.submit(shown, 'Make public');
    expect(noticeOn(unsure)).toBe('Nothing was changed. Tick the box to confirm.');
    const opened = await browser.submit(unsure, 'Make public', { public: 'yes' });
    expect(noticeOn(opened)).toContain('The application is public now, without a secret.');
    expect(opened.html).not.toContain('rvs_');
    const closed = await browser.submit(opened, 'Create secret');
    expect(noticeOn(closed)).toContain('The application has a secret now.');
    const next = /rvs_[\w-]+/.exec(closed.html)?.[0];
    expect(next).toBeDefined();
    expect(next).not.toBe(first);
    // The form of another tab, sent late, makes no second secret.
    const again = await browser.submit(opened, 'Create secret');
    expect(/rvs_[\w-]+/.exec(again.html)?.[0]).toBe(next);
  });

  test('no secret is rotated where there is none', async () => {
    const shown = await registered({});
    await setClientType(clientIdOn(shown), id, 'public');
    const late = await browser.submit(shown, 'Create new secret');
    const application = await getOwnApplication(clientIdOn(late), id);
    expect(application).not.toHaveProperty('secret_id');
  });

  test('another type is refused', async () => {
    const shown = await registered({ client_type: 'secret' });
    expect(shown.html).toContain('It must be one of confidential, public.');
  });
});

test('the API presents it without a secret, also to its owner', async () => {
  const { makeGrant } = await import('../helpers/world.ts');
  const { access_token, grant } = await makeGrant(owner, ['user']);
  const { body } = await callerOf(url, access_token)('GET', '/user/me/applications');
  const all = body.applications as { client_id: string; client_secret: string | null }[];
  const secretOf = (id: string) => all.find(({ client_id }) => client_id === id)?.client_secret;
  expect(secretOf(client_id)).toBeNull();
  expect(secretOf(grant.client_id)).toMatch(/^rvs_/);
});
