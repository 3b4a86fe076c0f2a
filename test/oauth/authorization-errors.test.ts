import {
  codeIn,
  evilUri,
  type Parameters,
  pkce,
  redirect_uri,
  requestOf,
  sentBack,
  startAuthorization,
} from '../helpers/authorization.ts';
import { nextSteps, openBrowser, type Shown } from '../helpers/browser.ts';

const {
  issuer,
  owner,
  client_id,
  ann,
  stranger,
  come,
  authorizeUrl,
  expectErrorPage,
  countRequests,
} = await startAuthorization();

const { deleteApplication, updateApplication } = await import(
  '../../shared/core/oauth/application-repository.ts'
);
const { deleteAccount } = await import('../../shared/features/account/delete-account.ts');
const { challenge, makeClient, redeem } = await import('../helpers/oauth-client.ts');

describe('an authorization request without a valid client and redirect URI shows an error page', () => {
  const redirectUris: Record<string, Parameters[string]> = {
    'no redirect_uri': undefined,
    'an empty redirect_uri': '',
    'two redirect URIs': [redirect_uri, redirect_uri],
    'the good redirect URI and an evil one': [redirect_uri, evilUri],
    'no query': 'https://client.example/cb/a',
    'an empty query': 'https://client.example/cb/a?',
    'more in the query': `${redirect_uri}&x=1`,
    'another query': 'https://client.example/cb/a?kept=2',
    'a fragment': `${redirect_uri}#x`,
    'an empty fragment': `${redirect_uri}#`,
    'a slash at the end': 'https://client.example/cb/a/?kept=1',
    'a doubled slash': 'https://client.example/cb//a?kept=1',
    'a folder above': 'https://client.example/cb/',
    'a path below': 'https://client.example/cb/a/b?kept=1',
    traversal: 'https://client.example/cb/x/../a?kept=1',
    'encoded traversal': 'https://client.example/cb/x/%2e%2e/a?kept=1',
    'an encoded letter': 'https://client.example/cb/%61?kept=1',
    'a path in capitals': 'https://client.example/CB/a?kept=1',
    'a host in capitals': 'https://CLIENT.example/cb/a?kept=1',
    'a scheme in capitals': 'HTTPS://client.example/cb/a?kept=1',
    'plain http': 'http://client.example/cb/a?kept=1',
    'its default port': 'https://client.example:443/cb/a?kept=1',
    'another port': 'https://client.example:8443/cb/a?kept=1',
    'a user': 'https://x@client.example/cb/a?kept=1',
    'the host as user': 'https://client.example@evil.example/cb/a?kept=1',
    'a subdomain': 'https://www.client.example/cb/a?kept=1',
    'a longer domain': 'https://client.example.evil.example/cb/a?kept=1',
    'a domain with a dot at the end': 'https://client.example./cb/a?kept=1',
    'a backslash': 'https://client.example\\cb/a?kept=1',
    'a trailing space': `${redirect_uri} `,
    'a leading space': ` ${redirect_uri}`,
    'a line break': `${redirect_uri}\n`,
    'a null character': `${redirect_uri}\0`,
    'no scheme': redirect_uri.slice('https:'.length),
    'a script': 'javascript:alert(1)',
  };
  test.each<[string, Parameters]>([
    ['no client_id', { client_id: undefined }],
    ['an empty client_id', { client_id: '' }],
    ['an unknown client', { client_id: 'f'.repeat(32) }],
    ['a client id in capitals', { client_id: client_id.toUpperCase() }],
    ['a client id with a space', { client_id: `${client_id} ` }],
    ['two client ids', { client_id: [client_id, client_id] }],
    ['an evil state beside it', { redirect_uri: evilUri, state: '<script>' }],
    ...Object.entries(redirectUris).map(([name, uri]): [string, Parameters] => [
      name,
      { redirect_uri: uri },
    ]),
  ])('%s', async (_, parameters) => {
    const requests = await countRequests();
    for (const browser of [ann, stranger]) {
      const shown = await browser.visit(authorizeUrl(parameters));
      expectErrorPage(shown);
      expect(shown.html).not.toContain('evil.example');
    }
    expect(await countRequests()).toBe(requests);
  });

  test('a deleted application', async () => {
    const { client_id } = await makeClient(owner, redirect_uri);
    const consent = await ann.visit(authorizeUrl({ client_id }));
    await deleteApplication(client_id, owner.id);
    expectErrorPage(await ann.visit(authorizeUrl({ client_id })));
    expectErrorPage(await ann.allow(consent));
    expectErrorPage(await ann.submit(consent, 'Allow', { decision: 'refuse' }));
  });

  test('a redirect URI that the application no longer has', async () => {
    const moving = await makeClient(owner, redirect_uri);
    const consent = await ann.visit(authorizeUrl({ client_id: moving.client_id }));
    const { name, desc, website } = moving;
    const registration = { name, desc, website, redirect_uri: 'https://client.example/new' };
    await updateApplication(moving.client_id, owner.id, registration);
    expectErrorPage(await ann.visit(authorizeUrl({ client_id: moving.client_id })));
    expectErrorPage(await ann.allow(consent));
  });
});

test.each([
  [{ client_id: undefined }, 'client_id is required'],
  [{ client_id: '' }, 'client_id is required'],
  [{ client_id: [client_id, client_id] }, 'client_id must be sent only once'],
  [{ redirect_uri: undefined }, 'redirect_uri is required'],
  [{ redirect_uri: [redirect_uri, redirect_uri] }, 'redirect_uri must be sent only once'],
])('explains to the developer what is wrong with %j', async (parameters, text) => {
  const { html } = await stranger.visit(authorizeUrl(parameters));
  expect(html).toContain(`<details><summary>For the developer</summary><p>${text}.</p></details>`);
});

describe('an error page', () => {
  const website = 'https://client.example/';

  test('names the application that made the mistake, and links back to it', async () => {
    const shown = await ann.visit(authorizeUrl({ redirect_uri: 'https://client.example/x' }));
    expectErrorPage(shown, 400, /^Demo was not connected$/);
    expect(shown.html).toContain('<strong>Demo</strong> (client.example) sent you here');
    expect(shown.html).toContain('It did not get access to your account.');
    expect(nextSteps(shown)).toEqual({
      'Go back to client.example': website,
      'Go to your account': `${issuer}/account`,
    });
    // A signed-in person sees the menu.
    expect(shown.html).toContain('<nav aria-label="Your account">');
    expect((await stranger.visit(shown.url)).html).not.toContain('<nav aria-label="Your account">');
  });

  test('links to the redirect URI’s host, not to the application’s website', async () => {
    const elsewhere = await makeClient(owner, 'https://evil.example/cb?x=1');
    const shown = await ann.visit(authorizeUrl({ client_id: elsewhere.client_id }));
    expect(nextSteps(shown)).toMatchObject({ 'Go back to evil.example': 'https://evil.example/' });
    expect(shown.html).not.toContain('client.example');
  });

  test('names no application if it is unknown', async () => {
    const shown = await ann.visit(authorizeUrl({ client_id: 'f'.repeat(32) }));
    expectErrorPage(shown, 400, /^The application was not connected$/);
    expect(nextSteps(shown)).toEqual({ 'Go to your account': `${issuer}/account` });
  });

  test('links back to the application of an expired or answered request', async () => {
    const consent = await ann.visit(authorizeUrl());
    await ann.submit(consent, 'Allow', { decision: 'refuse' });
    for (const shown of [await ann.allow(consent), await ann.visit(requestOf(consent))]) {
      expectErrorPage(shown, 400, /^Please start again$/);
      expect(shown.html).toContain('<strong>Demo</strong> (client.example) sent you here');
      expect(shown.html).toContain('This question has been answered already, or is too old');
      expect(nextSteps(shown)).toMatchObject({ 'Go back to client.example': website });
    }
  });

  test('lets a signed-out person sign in, and answer then', async () => {
    const { browser } = await come('Ola');
    const consent = await browser.visit(authorizeUrl({ state: 'x' }));
    browser.jar.delete('session /');
    const shown = await browser.allow(consent);
    expectErrorPage(shown, 401, /^You are signed out$/);
    expect(shown.html).toContain('Nothing was changed.');
    const back = await browser.allow(await browser.signIn('Ola', nextSteps(shown)['Sign in']));
    expect(sentBack(back).get('state')).toBe('x');
    expect(sentBack(back).has('code')).toBe(true);
  });

  test.each([
    ['account', 'Save'],
    ['account/delete', 'Delete account'],
    ['account/applications', 'Register'],
  ])('for a form on %s links back to it', async (path, text) => {
    const { browser } = await come('Pat');
    const page = await browser.visit(path);
    const old = await browser.submit(page, text, { csrf: 'A'.repeat(86) });
    expectErrorPage(old, 403);
    expect(nextSteps(old)).toEqual({ 'Open the page again': `${issuer}/${path}` });
    browser.jar.clear();
    const shown = await browser.submit(page, text);
    expectErrorPage(shown, 401);
    const signIn = new URL(nextSteps(shown)['Sign in'] ?? '');
    expect(signIn.searchParams.get('return_to')).toBe(`${issuer}/${path}`);
  });

  test('says that the account was deleted', async () => {
    const { browser, account, id } = await come('Quin');
    await deleteAccount(id);
    expectErrorPage(await browser.submit(account, 'Save'), 401, /^Your account was deleted$/);
  });
});

/**
 * Returns the parameters of the link back to the client. A person who has never allowed the client
 * is not redirected (RFC 9700 section 4.11.2).
 */
function ledBack(shown: Shown): URLSearchParams {
  expectErrorPage(shown, 400, /^Demo was not connected$/);
  return sentBack({ ...shown, url: nextSteps(shown)['Go back to client.example'] ?? '' });
}

/** Makes the request as Ann, and as a newcomer, who signs in first. Returns both results. */
async function visitTwice(parameters: Parameters, name = 'Nil'): Promise<Shown[]> {
  const newcomer = openBrowser(issuer);
  const signIn = await newcomer.visit(authorizeUrl(parameters));
  expect(signIn.html).toContain('Development sign-in');
  const ofNewcomer = await newcomer.submit(signIn, 'Sign in', { name });
  return [await ann.visit(authorizeUrl(parameters)), ofNewcomer];
}

describe('an invalid authorization request returns to the client', () => {
  test('at once if the person has allowed the application before', async () => {
    const other = await makeClient(owner, redirect_uri);
    const request = { client_id: other.client_id, scope: 'x', state: 'y' };
    expectErrorPage(await ann.visit(authorizeUrl(request)), 400, /^Demo was not connected$/);
    const consent = await ann.visit(authorizeUrl({ ...request, scope: '' }));
    expect(await redeem(other, codeIn(await ann.allow(consent)))).toHaveStatus(200);
    for (const shown of await visitTwice(request, 'Ann')) {
      const answer = Object.fromEntries(sentBack(shown));
      expect(answer).toMatchObject({ error: 'invalid_scope', state: 'y', iss: issuer });
    }
  });

  test.each<[string, Parameters, string]>([
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['an empty response_type', { response_type: '' }, 'invalid_request'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    ['a hybrid', { response_type: 'code token' }, 'unsupported_response_type'],
    ['another case', { response_type: 'CODE' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'review,admin' }, 'invalid_scope'],
    ['a scope in capitals', { scope: 'Review' }, 'invalid_scope'],
    ['a scope of the prototype', { scope: 'constructor' }, 'invalid_scope'],
    ['two response types', { response_type: ['code', 'code'] }, 'invalid_request'],
    ['two scopes', { scope: ['review', 'review'] }, 'invalid_request'],
    ['two challenges', { code_challenge: [challenge, challenge] }, 'invalid_request'],
    ['two challenge methods', pkce(challenge, ['S256', 'S256']), 'invalid_request'],
    ['a plain challenge', pkce(challenge, 'plain'), 'invalid_request'],
    ['a challenge that is plain by default', { code_challenge: challenge }, 'invalid_request'],
    ['a method in lower case', pkce(challenge, 's256'), 'invalid_request'],
    ['a method without a challenge', { code_challenge_method: 'S256' }, 'invalid_request'],
    ['a short challenge', pkce(challenge.slice(1), 'S256'), 'invalid_request'],
    ['a padded challenge', pkce(`${challenge}=`, 'S256'), 'invalid_request'],
    ['an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['an answer in a form', { response_mode: 'form_post' }, 'invalid_request'],
    ['two response modes', { response_mode: ['query', 'query'] }, 'invalid_request'],
    ['a signed request', { request: 'eyJ.eyJ.x' }, 'request_not_supported'],
    ['an id like ours', { request: 'f'.repeat(32) }, 'request_not_supported'],
    ['a request URI', { request_uri: 'https://x.example/' }, 'request_uri_not_supported'],
  ])('%s', async (_, parameters, error) => {
    const error_description = expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    const answer = { kept: '1', error, error_description, state: 'x', iss: issuer };
    for (const shown of await visitTwice({ state: 'x', ...parameters })) {
      expect(Object.fromEntries(ledBack(shown))).toEqual(answer);
    }
  });

  test.each([
    ['two states', ['x', 'y']],
    ['2,049 letters', 'x'.repeat(2049)],
    ['2,049 bytes', `x${'é'.repeat(1024)}`],
  ])('without a state if it has %s', async (_, state) => {
    for (const shown of await visitTwice({ state })) {
      const answer = ledBack(shown);
      expect(answer.get('error')).toBe('invalid_request');
      expect(answer.has('state')).toBe(false);
    }
  });

  test.each([{ response_mode: 'query' }, { response_mode: '' }, { request: '', request_uri: '' }])(
    'but not for %j',
    async (parameters) => {
      const consent = await ann.visit(authorizeUrl(parameters));
      expect(consent.html).toContain('Let Demo use your account?');
    },
  );
});
