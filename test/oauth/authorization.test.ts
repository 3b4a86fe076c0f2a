import { randomUUID } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, jest, test } from '@jest/globals';
import { randomNumbers } from '../../bin/random.ts';
import { callerOf } from '../helpers/api.ts';
import {
  contentOf,
  credentialsOn,
  csrfOn,
  faultsOn,
  headingOf,
  nextSteps,
  noticeOn,
  openAs,
  openBrowser,
  type Shown,
  textBetween,
} from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startTestStack } from '../helpers/stack.ts';

const { url, authUrl: issuer, stream } = await startTestStack();

const { deleteApplication, updateApplication } = await import(
  '../../shared/oauth/application-repository.ts'
);
const { answerAuthorization, insertAuthorizationRequest } = await import(
  '../../shared/oauth/authorization-repository.ts'
);
const { listGrants } = await import('../../shared/oauth/grant-repository.ts');
const { deleteAccount } = await import('../../shared/account/delete-account.ts');
const { table } = await import('../../shared/table/client.ts');
const { sealRequest } = await import('../../shared/pages/sealed.ts');
const { makeUser } = await import('../helpers/world.ts');
const { scanTable } = await import('../helpers/items.ts');
const { challenge, makeClient, redeem, verifier } = await import('../helpers/oauth-client.ts');

const redirect_uri = 'https://client.example/cb/a?kept=1';
const owner = await makeUser();
const client = await makeClient(owner, redirect_uri);
const { client_id } = client;

const come = (name: string) => openAs(issuer, name);
const { browser: ann, id: annsId } = await come('Ann');
const stranger = openBrowser(issuer);

type Parameters = Record<string, string | readonly string[] | undefined>;

/**
 * Returns the URL of an authorization request with these parameters changed. A list sends each
 * value; undefined omits the parameter.
 */
function authorizeUrl(parameters: Parameters = {}): string {
  const all: Parameters = { response_type: 'code', client_id, redirect_uri, ...parameters };
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => [name, each]),
  );
  return `${issuer}/oauth/authorize?${new URLSearchParams(pairs as [string, string][])}`;
}

/** Titles of error pages, by status. */
const errorTitles: Record<number, RegExp> = {
  400: /^(That did not work|Please start again|You are not signed in|.* was not connected)$/,
  401: /^(You are signed out|Your account was deleted)$/,
  403: /^Please try again$/,
  404: /^Application not found$/,
};

function expectErrorPage(shown: Shown, status = 400, title = errorTitles[status]): void {
  expect(shown.url.startsWith(`${issuer}/`)).toBe(true);
  expect(shown.status).toBe(status);
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headingOf(shown)).toMatch(title ?? /^$/);
  // Every error page has a link to go on.
  expect(Object.keys(nextSteps(shown))).not.toEqual([]);
}

/** Expects the form again, as it was sent, with the fault of one field. */
function expectFormAgain(shown: Shown, name: string, value: string, fault?: string): void {
  expect(shown.status).toBe(400);
  expect(faultsOn(shown)).toEqual({
    '': 'Nothing was saved. Correct the fields marked below.',
    [name]: fault ?? expect.stringMatching(/^(It must .*|Please fill this in)\.$/),
  });
  expect(contentOf(shown, name)).toBe(value);
}

/** Returns the parameters of a redirect to the client. */
function sentBack({ url }: Shown): URLSearchParams {
  expect(url.startsWith(`${redirect_uri}&`)).toBe(true);
  return new URL(url).searchParams;
}

const codeIn = (shown: Shown) => sentBack(shown).get('code') ?? '';
const idOf = (shown: Shown) => credentialsOn(shown).client_id;
const evilUri = 'https://evil.example/';
const requestOf = (consent: Shown) => textBetween(consent, '<form method="post" action="', '"');

describe('an authorization request without a valid client and redirect URI shows an error page', () => {
  test.each<[string, Parameters]>([
    ['no client_id', { client_id: undefined }],
    ['an empty client_id', { client_id: '' }],
    ['an unknown client', { client_id: 'f'.repeat(32) }],
    ['a client id in capitals', { client_id: client_id.toUpperCase() }],
    ['a client id with a space', { client_id: `${client_id} ` }],
    ['two client ids', { client_id: [client_id, client_id] }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['an empty redirect_uri', { redirect_uri: '' }],
    ['two redirect URIs', { redirect_uri: [redirect_uri, redirect_uri] }],
    ['the good redirect URI and an evil one', { redirect_uri: [redirect_uri, evilUri] }],
    ['no query', { redirect_uri: 'https://client.example/cb/a' }],
    ['an empty query', { redirect_uri: 'https://client.example/cb/a?' }],
    ['more in the query', { redirect_uri: `${redirect_uri}&x=1` }],
    ['another query', { redirect_uri: 'https://client.example/cb/a?kept=2' }],
    ['a fragment', { redirect_uri: `${redirect_uri}#x` }],
    ['an empty fragment', { redirect_uri: `${redirect_uri}#` }],
    ['a slash at the end', { redirect_uri: 'https://client.example/cb/a/?kept=1' }],
    ['a doubled slash', { redirect_uri: 'https://client.example/cb//a?kept=1' }],
    ['a folder above', { redirect_uri: 'https://client.example/cb/' }],
    ['a path below', { redirect_uri: 'https://client.example/cb/a/b?kept=1' }],
    ['traversal', { redirect_uri: 'https://client.example/cb/x/../a?kept=1' }],
    ['encoded traversal', { redirect_uri: 'https://client.example/cb/x/%2e%2e/a?kept=1' }],
    ['an encoded letter', { redirect_uri: 'https://client.example/cb/%61?kept=1' }],
    ['a path in capitals', { redirect_uri: 'https://client.example/CB/a?kept=1' }],
    ['a host in capitals', { redirect_uri: 'https://CLIENT.example/cb/a?kept=1' }],
    ['a scheme in capitals', { redirect_uri: 'HTTPS://client.example/cb/a?kept=1' }],
    ['plain http', { redirect_uri: 'http://client.example/cb/a?kept=1' }],
    ['its default port', { redirect_uri: 'https://client.example:443/cb/a?kept=1' }],
    ['another port', { redirect_uri: 'https://client.example:8443/cb/a?kept=1' }],
    ['a user', { redirect_uri: 'https://x@client.example/cb/a?kept=1' }],
    ['the host as user', { redirect_uri: 'https://client.example@evil.example/cb/a?kept=1' }],
    ['a subdomain', { redirect_uri: 'https://www.client.example/cb/a?kept=1' }],
    ['a longer domain', { redirect_uri: 'https://client.example.evil.example/cb/a?kept=1' }],
    ['a domain with a dot at the end', { redirect_uri: 'https://client.example./cb/a?kept=1' }],
    ['a backslash', { redirect_uri: 'https://client.example\\cb/a?kept=1' }],
    ['a trailing space', { redirect_uri: `${redirect_uri} ` }],
    ['a leading space', { redirect_uri: ` ${redirect_uri}` }],
    ['a line break', { redirect_uri: `${redirect_uri}\n` }],
    ['a null character', { redirect_uri: `${redirect_uri}\0` }],
    ['no scheme', { redirect_uri: redirect_uri.slice('https:'.length) }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['an evil state beside it', { redirect_uri: evilUri, state: '<script>' }],
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
    expect(shown.html).toContain('<nav aria-label="Main">');
    expect((await stranger.visit(shown.url)).html).not.toContain('<nav aria-label="Main">');
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

async function countRequests(): Promise<number> {
  return (await scanTable()).filter(({ sk }) => sk === 'REQUEST').length;
}

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

const pkce = (code_challenge: Parameters[string], code_challenge_method: Parameters[string]) => ({
  code_challenge,
  code_challenge_method,
});

describe('an invalid authorization request returns to the client', () => {
  test('at once if the person has allowed the application before', async () => {
    const other = await makeClient(owner, redirect_uri);
    const request = { client_id: other.client_id, scope: 'x', state: 'y' };
    expectErrorPage(await ann.visit(authorizeUrl(request)), 400, /^Demo was not connected$/);
    const consent = await ann.visit(authorizeUrl({ ...request, scope: '' }));
    expect((await redeem(other, codeIn(await ann.allow(consent)))).status).toBe(200);
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

describe('the state', () => {
  test.each([
    ['letters', 'xyz'],
    ['nothing', ''],
    ['unicode', 'ünï✓ 🎷 \u202e عربي'],
    ['2 kB', 'abcdefgh'.repeat(256)],
    ['signs', `+ % %20 %2B & = ; # ? / \\ : @ , ~ * ! ' ( ) [ ] { } | ^`],
    ['quotes', `"'\`<script>alert(1)</script>`],
    ['a line break', 'a\r\nSet-Cookie: x=y'],
    ['parameters of an answer', 'x&code=evil&error=evil'],
  ])('comes back unchanged: %s', async (_, state) => {
    const consent = await ann.visit(authorizeUrl({ state }));
    const refused = await ann.submit(consent, 'Allow', { decision: 'refuse' });
    const approved = await ann.allow(await ann.visit(authorizeUrl({ state })));
    const [code, rest] = [expect.stringMatching(/^rvc_/), ['state', state, 'iss', issuer]];
    expect([...sentBack(refused)].flat()).toEqual(['kept', '1', 'error', 'access_denied', ...rest]);
    expect([...sentBack(approved)].flat()).toEqual(['kept', '1', 'code', code, ...rest]);
    // Some clients decode by hand, and do not read a plus sign as a space.
    expect(approved.url).not.toContain('+');
  });

  test('is omitted if it was not sent', async () => {
    const answer = sentBack(await ann.allow(await ann.visit(authorizeUrl())));
    expect(answer.has('state')).toBe(false);
  });

  const random = randomNumbers(1);
  /** Makes 2,048 bytes of UTF-8 that do not compress. */
  const randomState = (first: number, last: number) => {
    let state = '';
    while (Buffer.byteLength(state) < 2048) {
      state += String.fromCodePoint(first + Math.floor(random() * (last + 1 - first)));
    }
    while (Buffer.byteLength(state) > 2048) state = state.replace(/.$/su, '');
    return state.padEnd(state.length + 2048 - Buffer.byteLength(state), 'x');
  };

  test.each([
    ['signs', 'ü+ %"&'],
    ['nothing', ''],
    ['2 KB of letters', 'abcdefgh'.repeat(256)],
    ['2 KB of ASCII', randomState(0x20, 0x7e)],
    ['2 KB of control characters', randomState(0x00, 0x1f)],
    ['2 KB of quotes', '"\\'.repeat(1024)],
    ['2 KB of Greek and Cyrillic', randomState(0x370, 0x4ff)],
    ['2 KB of Chinese', randomState(0x4e00, 0x9fff)],
    ['2 KB of emoji', randomState(0x1f300, 0x1faff)],
  ])('survives the sign-in: %s', async (name, state) => {
    const browser = openBrowser(issuer);
    const requests = await countRequests();
    const signIn = await browser.visit(authorizeUrl({ state }));
    expect(signIn.html).toContain('Development sign-in');
    expect(await countRequests()).toBe(requests);
    const cookie = [...browser.jar].find(([key]) => key.startsWith('sign-in-'));
    const attributes = '__Host-=; Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Lax';
    const size = `${cookie?.[0]}${cookie?.[1].value}${attributes}`.length;
    // Browsers drop larger cookies. A usual state takes far less.
    expect(size).toBeLessThan(name.startsWith('2 KB') ? 4000 : 1000);
    const consent = await browser.submit(signIn, 'Sign in', { name: 'Ben' });
    expect(consent.html).toContain('Let Demo use your account?');
    const back = await browser.allow(consent);
    expect(sentBack(back).get('state')).toBe(state);
    // Opening the page again does not ask again.
    expectErrorPage(await browser.visit(consent.url));
  });

  test('is read only from our sealed request, until that expires', async () => {
    const stopped = Date.now();
    const asked = { scopes: [], code_challenge: null };
    const sealed = await sealRequest({ client_id, state: null, asked });
    const at = `${issuer}/oauth/authorize?sealed_request=`;
    expect((await ann.visit(at + sealed)).html).toContain('Let Demo use your account?');
    expectErrorPage(await ann.visit(`${at}${sealed}&sealed_request=${sealed}`));
    expectErrorPage(await ann.visit(at));
    expectErrorPage(await ann.visit(`${at}${sealed.replace(/.$/, '')}`));
    expectErrorPage(await ann.visit(`${at}${ann.jar.get('session /')?.value}`));
    stopClock(stopped + 1_802_000);
    expectErrorPage(await ann.visit(at + sealed));
  });

  test('is not read for a deleted application', async () => {
    const { client_id } = await makeClient(owner, redirect_uri);
    const browser = openBrowser(issuer);
    const signIn = await browser.visit(authorizeUrl({ client_id }));
    await deleteApplication(client_id, owner.id);
    expectErrorPage(await browser.submit(signIn, 'Sign in', { name: 'Ben' }));
  });
});

describe('the consent page', () => {
  test('shows the application, its scopes and the person asked', async () => {
    const { html, headers } = await ann.visit(authorizeUrl({ scope: 'vote,user vote' }));
    const asked = ['Let Demo use your account?', '<strong>Ann</strong>'];
    const scopes = ['Vote in your name', 'Change your profile'];
    for (const text of [...asked, ...scopes, '<dt>Sends you to</dt><dd>client.example</dd>']) {
      expect(html).toContain(text);
    }
    const known = textBetween({ html } as Shown, '<li><strong>Know who you are.</strong>', '</li>');
    expect(known).toMatch(/^Your profile and email address.* drafts.* connected\.$/);
    expect(html).not.toContain('Write in your name');
    // A permission that cannot be undone stands apart, and no menu leads elsewhere.
    const warning = textBetween({ html } as Shown, '<div class="warning">', '</div>');
    expect(warning).toContain('Delete your account');
    expect(html.replace(warning, '')).not.toContain('Delete your account');
    expect(html).not.toMatch(/<nav|Sign out/);
    // Browsers apply form-action to all redirects after the form, and the client may redirect
    // anywhere.
    expect(headers.get('content-security-policy')).not.toContain('form-action');
  });

  test('lets another person in the same browser answer', async () => {
    const { browser } = await come('Ida');
    const consent = await browser.visit(authorizeUrl({ state: 'ü+ &', scope: 'vote' }));
    const link = textBetween(consent, 'asks to act for you, <strong>Ida</strong>.', '</a>');
    const [, href = '', text] = /^<a href="([^"]*)">(.*)/s.exec(link) ?? [];
    expect(text).toBe('Not you? Use another account');
    expect(new URL(href).searchParams.get('prompt')).toBe('login');
    const signedIn = await browser.signIn('Jon', href);
    // The provider ends the earlier session, too, by a form that a script would submit.
    const asked = await browser.submit(signedIn, 'Continue', { logout: 'yes' });
    expect(asked.html).toContain('asks to act for you, <strong>Jon</strong>.');
    const back = await browser.allow(asked);
    expect(sentBack(back).get('state')).toBe('ü+ &');
    const { body } = await redeem(client, codeIn(back));
    const me = await callerOf(url, body.access_token)('GET', '/user/me');
    expect(me.body).toMatchObject({ user: { display_name: 'Jon' } });
  });

  test('grants only the scopes asked for, whatever the form says', async () => {
    const consent = await ann.visit(authorizeUrl({ scope: 'vote' }));
    const evil = { redirect_uri: evilUri, scope: 'user', client_id: 'x' };
    const back = await ann.submit(consent, 'Allow', { decision: 'approve', ...evil });
    expect((await redeem(client, codeIn(back))).body).toHaveProperty('access_token');
    expect((await listGrants(annsId)).at(-1)).toMatchObject({ client_id, scopes: ['vote'] });
  });

  test('keeps the challenge that was sent first', async () => {
    const consent = await ann.visit(authorizeUrl(pkce(challenge, 'S256')));
    const back = await ann.submit(consent, 'Allow', { decision: 'approve', code_challenge: '' });
    const code = codeIn(back);
    expect((await redeem(client, code)).body.error).toBe('invalid_grant');
    expect((await redeem(client, code, { code_verifier: verifier })).status).toBe(200);
  });

  test.each<[string, Record<string, string>, number]>([
    ['no token of the session', { csrf: '' }, 403],
    ['a made-up token', { csrf: 'A'.repeat(43) }, 403],
    ['a token of unusual letters', { csrf: 'é'.repeat(43) }, 403],
    ['no decision', { decision: '' }, 400],
    ['another decision', { decision: 'Approve' }, 400],
  ])('refuses an answer with %s', async (_, fields, status) => {
    const consent = await ann.visit(authorizeUrl());
    expectErrorPage(await ann.submit(consent, 'Allow', { decision: 'approve', ...fields }), status);
    expect(sentBack(await ann.allow(consent)).has('code')).toBe(true);
  });

  test.each(['f'.repeat(32), '../x', ''])('refuses an answer to the request %j', async (id) => {
    const csrf = csrfOn(await ann.visit(authorizeUrl()));
    for (const query of [`?${new URLSearchParams({ request_id: id })}`, '']) {
      expectErrorPage(await ann.post(`oauth/authorize${query}`, { csrf, decision: 'approve' }));
    }
  });

  test('refuses an answer with the token of another session', async () => {
    const { browser: ben } = await come('Ben');
    const fields = { decision: 'approve', csrf: csrfOn(await ben.visit(authorizeUrl())) };
    expectErrorPage(await ann.submit(await ann.visit(authorizeUrl()), 'Allow', fields), 403);
    // A token of the same person’s earlier session is refused, too.
    const before = await ben.visit(authorizeUrl());
    ben.jar.clear();
    await ben.signIn('Ben');
    expectErrorPage(await ben.allow(before), 403);
  });

  test('refuses an answer without a session', async () => {
    expectErrorPage(await stranger.allow(await ann.visit(authorizeUrl())), 401);
  });

  test.each([
    ['approve', 'refuse'],
    ['refuse', 'approve'],
  ])('accepts only the first answer: %s', async (decision, other) => {
    const consent = await ann.visit(authorizeUrl());
    sentBack(await ann.submit(consent, 'Allow', { decision }));
    expectErrorPage(await ann.submit(consent, 'Allow', { decision: other }));
  });

  test.each(['approve', 'refuse'])(
    'repeats its result for a minute if sent twice: %s',
    async (decision) => {
      const consent = await ann.visit(authorizeUrl({ state: 'x' }));
      const start = Date.now();
      const first = await ann.submit(consent, 'Allow', { decision });
      expect(sentBack(first).has('code')).toBe(decision === 'approve');
      stopClock(start + 58_000);
      expect((await ann.submit(consent, 'Allow', { decision })).url).toBe(first.url);
      stopClock(start + 62_000);
      expectErrorPage(await ann.submit(consent, 'Allow', { decision }));
    },
  );

  test('returns one code to two parallel clicks, valid as long as the first', async () => {
    for (let i = 0; i < 15; i++) {
      const consent = await ann.visit(authorizeUrl());
      const [first, second] = await Promise.all([ann.allow(consent), ann.allow(consent)]);
      expect(second.url).toBe(first.url);
      expect((await redeem(client, codeIn(first))).status).toBe(200);
    }
    const start = Date.now();
    const consent = await ann.visit(authorizeUrl());
    await ann.allow(consent);
    stopClock(start + 50_000);
    const code = codeIn(await ann.allow(consent));
    stopClock(start + 62_000);
    expect((await redeem(client, code)).body.error).toBe('invalid_grant');
  });

  test('does not repeat its result to another person', async () => {
    const consent = await ann.visit(authorizeUrl());
    await ann.allow(consent);
    const { browser: ben } = await come('Ben');
    const csrf = csrfOn(await ben.visit(authorizeUrl()));
    expectErrorPage(await ben.post(requestOf(consent), { csrf, decision: 'approve' }));
  });

  test('accepts one of ten parallel answers, and repeats its result', async () => {
    const asked = { scopes: [], state: null, code_challenge: null };
    const { name } = client;
    const id = await insertAuthorizationRequest({ client_id, name, redirect_uri, ...asked });
    const decisions = Array.from({ length: 10 }, (_, i) => (i % 2 ? 'refuse' : 'approve'));
    const answers = await Promise.allSettled(
      decisions.map((decision) => answerAuthorization(id, decision, annsId)),
    );
    const taken = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    expect(taken).toHaveLength(5);
    expect(new Set(taken.map(({ code }) => code)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status === 'rejected')) {
      expect(answer).toMatchObject({ reason: { status: 400 } });
    }
  });

  test('refuses an answer if the application has been renamed', async () => {
    const moving = await makeClient(owner, redirect_uri, 'Trusty');
    const consent = await ann.visit(authorizeUrl({ client_id: moving.client_id }));
    const { desc, website } = moving;
    const renamed = { name: 'Nasty', desc, website, redirect_uri };
    await updateApplication(moving.client_id, owner.id, renamed);
    const shown = await ann.allow(consent);
    expectErrorPage(shown);
    expect(shown.html).toContain('The application has changed');
    expectErrorPage(await ann.visit(requestOf(consent)));
  });

  test('takes three round trips, whatever it shows', async () => {
    // The consumers of the stream read the table, too.
    await stream.idle();
    const log: string[] = [];
    const send = table.send.bind(table);
    const sent = jest.spyOn(table, 'send').mockImplementation((async (command: never) => {
      log.push((command as object).constructor.name);
      const answer = await send(command);
      log.push('answered');
      return answer;
    }) as never);
    await ann.visit(authorizeUrl());
    sent.mockRestore();
    const asked = log.slice(0, 8).filter((each) => each !== 'answered');
    expect(log.slice(0, 4)).toEqual(['GetCommand', 'answered', 'GetCommand', 'answered']);
    const parallel = ['BatchWriteCommand', 'GetCommand', 'QueryCommand', 'QueryCommand'];
    expect(asked.slice(2).toSorted()).toEqual(parallel);
    expect(log).toHaveLength(12);
  });

  test('is not shown for two requests, or for an answered request', async () => {
    const consent = await ann.visit(authorizeUrl());
    const at = requestOf(consent);
    const [, request] = at.split('=');
    expect((await ann.visit(at)).html).toContain('Let Demo use your account?');
    expectErrorPage(await ann.visit(`${at}&request_id=${request}`));
    await ann.allow(consent);
    expectErrorPage(await ann.visit(at));
  });

  test('refuses the answer of a deleted account', async () => {
    const { browser: cat, id } = await come('Cat');
    const consent = await cat.visit(authorizeUrl());
    await deleteAccount(id);
    expectErrorPage(await cat.allow(consent), 401);
    expect((await cat.visit('account')).html).toContain('Development sign-in');
  });
});

describe('the sign-in', () => {
  test.each([
    ['//evil.example/'],
    ['///evil.example/'],
    ['/\\evil.example/'],
    ['\\\\evil.example/'],
    ['https://evil.example/'],
    ['https:evil.example'],
    ['http:evil.example'],
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    [`${issuer.replace('//', '//evil@')}/account`],
    [`${issuer.replace('//', '//evil:pw@')}/account`],
    [`${new URL(issuer).origin}.evil.example/ws/account`],
    ['/ws/../identity-provider/x'],
    ['/ws/%2e%2e/identity-provider/x'],
    ['/wsx/account'],
    ['/\t/evil.example/'],
    ['\u0000//evil.example'],
    ['account\r\nSet-Cookie: session=x'],
    [''],
  ])('does not return to %j', async (return_to) => {
    const browser = openBrowser(issuer);
    const query = new URLSearchParams({ return_to });
    const shown = await browser.signIn('Dan', `account/sign-in?${query}`);
    expect(shown.url.startsWith(`${issuer}/`)).toBe(true);
    expect(new URL(shown.url)).toMatchObject({ username: '', password: '' });
    expect(browser.jar.get('session /')?.value).not.toBe('x');
  });

  test('returns to the account if the target is too long for a cookie', async () => {
    const noise = Array.from({ length: 2000 }, () => randomUUID()).join('');
    const return_to = `${issuer}/account/connections?x=${noise.slice(0, 8000)}`;
    const query = new URLSearchParams({ return_to });
    const shown = await openBrowser(issuer).signIn('Dan', `account/sign-in?${query}`);
    expect(shown.url).toBe(`${issuer}/account`);
  });

  test('leaves at most four cookies when it is begun repeatedly', async () => {
    const browser = openBrowser(issuer);
    for (let i = 0; i < 6; i++) await browser.visit('account/connections');
    expect([...browser.jar.keys()].filter((name) => name.startsWith('sign-in-'))).toHaveLength(4);
    const shown = await browser.signIn('Dan', 'account/connections');
    expect(shown.url).toBe(`${issuer}/account/connections`);
  });

  test('returns to the page that was asked for', async () => {
    const shown = await openBrowser(issuer).signIn('Dan', 'account/connections?x=%26%2B');
    expect(shown.url).toBe(`${issuer}/account/connections?x=%26%2B`);
  });

  test('refuses two return addresses', async () => {
    expectErrorPage(await stranger.visit('account/sign-in?return_to=/ws/account&return_to=x'));
  });

  test('makes a new session each time, and ignores a planted one', async () => {
    const browser = openBrowser(issuer);
    browser.jar.set('session /', { value: 'planted', path: '/' });
    await browser.signIn('Eve');
    const first = browser.jar.get('session /')?.value;
    expect(first).not.toBe('planted');
    await browser.signIn('Eve', 'account/sign-in');
    const second = browser.jar.get('session /')?.value;
    const idOf = (cookie = '') => {
      const bytes = inflateRawSync(Buffer.from(cookie.split('.')[1] ?? '', 'base64url'));
      return JSON.parse(bytes.toString()).content.session_id;
    };
    expect(idOf(first)).toMatch(/^[\da-f]{32}$/);
    expect(idOf(second)).not.toBe(idOf(first));
  });

  test('can be finished once, only in the browser that began it', async () => {
    const attacker = openBrowser(issuer);
    const began = await attacker.visit('account/sign-in');
    const cookies = [...attacker.jar].filter(([key]) => key.startsWith('sign-in-'));
    for (const [name] of cookies) attacker.jar.delete(name);
    // The provider redirects to the callback with the attacker's code, as the victim's browser
    // would.
    const shown = await attacker.submit(began, 'Sign in', { name: 'Mallory' });
    expect(shown.url).toContain('/account/callback?code=');
    expectErrorPage(shown);
    const victim = openBrowser(issuer);
    await victim.visit('account/sign-in');
    expectErrorPage(await victim.visit(shown.url));
    expect(victim.jar.has('session /')).toBe(false);
    for (const [name, cookie] of cookies) attacker.jar.set(name, cookie);
    expect((await attacker.visit(shown.url)).url).toBe(`${issuer}/account`);
    for (const [name, cookie] of cookies) attacker.jar.set(name, cookie);
    expectErrorPage(await attacker.visit(shown.url));
  });

  test.each([
    'code=x',
    'code=x&state=y',
    'error=access_denied',
    'error=login_required&state=x',
    '',
  ])('reports a failure: %s', async (query) => {
    const browser = openBrowser(issuer);
    await browser.visit('account/sign-in');
    expectErrorPage(await browser.visit(`account/callback?${query}`));
    expect(browser.jar.has('session /')).toBe(false);
  });

  test('makes one account per person', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => come('Fay')));
    expect(new Set(people.map(({ id }) => id)).size).toBe(1);
  });

  test('ends at sign-out', async () => {
    const { browser, account } = await come('Guy');
    expectErrorPage(await browser.post('account/sign-out', { csrf: 'x' }), 403);
    expect(browser.jar.has('session /')).toBe(true);
    const shown = await browser.submit(account, 'Sign out');
    expect(shown.html).toContain('You are signed out');
    expect(browser.jar.has('session /')).toBe(false);
    expect((await browser.visit('account')).html).toContain('Development sign-in');
  });
});

test('the page after an account deletion can be reloaded', async () => {
  const { browser } = await come('Moritz');
  const page = await browser.visit('account/delete');
  const over = await browser.submit(page, 'Delete account', { name: 'Moritz' });
  expect(over.url).toBe(`${issuer}/account/sign-out`);
  expect(over.html).toContain('Your account was deleted');
});

test('the front page describes itself to search engines and link previews', async () => {
  const { html } = await openBrowser(issuer).visit('');
  for (const name of ['name="description"', 'property="og:description"']) {
    expect(html).toMatch(new RegExp(`<meta ${name} content="[^"]*reviews of albums[^"]*">`));
  }
  expect(html.indexOf('on your own website')).toBeLessThan(html.indexOf('curl'));
});

describe('a new user', () => {
  const paths = ['account/tokens', authorizeUrl({ state: 'x' })];

  test('keeps the name of the identity provider, and is told that it can be changed', async () => {
    const { browser, account } = await come('Kim');
    expect(account.html).toContain('You are new here');
    expect(account.html).toContain('<dd>New: votes on up to 10 reviews a day</dd>');
    for (const path of paths) {
      expect((await browser.visit(path)).html).not.toContain('name="display_name"');
    }
    await browser.submit(account, 'Save', { display_name: 'Kim', email: '' });
    expect((await browser.visit('account')).html).not.toContain('You are new here');
  });

  test('has a name once an application has set it', async () => {
    const { browser } = await come('Nia');
    const consent = await browser.visit(authorizeUrl({ scope: 'user' }));
    const { body } = await redeem(client, codeIn(await browser.allow(consent)));
    const call = callerOf(url, body.access_token);
    expect((await call('POST', '/user/me', { email: 'nia@example.com' })).status).toBe(200);
    expect((await browser.visit('account')).html).toContain('You are new here');
    expect((await call('POST', '/user/me', { display_name: 'Nia' })).status).toBe(200);
    expect((await browser.visit('account')).html).not.toContain('You are new here');
  });

  test('returns only to pages of the service', async () => {
    const { browser } = await come('Oda');
    const question = 'Save and continue';
    const page = await browser.visit('account?return_to=account%2Ftokens');
    for (const return_to of [evilUri, '//evil.example/', '', 'javascript:alert(1)']) {
      const shown = await browser.submit(page, question, { display_name: 'Oda', return_to });
      expect(shown.url).toBe(`${issuer}/account`);
    }
    const fault = await browser.submit(page, question, { display_name: ' ' });
    expectFormAgain(fault, 'display_name', ' ', 'It must have some visible character.');
    // An invalid form keeps the return address.
    const named = await browser.submit(fault, 'Save', { display_name: 'Oda', email: '' });
    expect(named.url).toBe(`${issuer}/account/tokens`);
    expect(noticeOn(named)).toBe('Your profile is saved.');
  });
});

describe('the account pages', () => {
  const evil = `<script>alert("1")</script>&'`;

  test('escape what people write', async () => {
    const { browser, account } = await come(`Zoe ${evil}`);
    const redirect_uri = `https://client.example/?"><script>alert(3)</script>`;
    const registered = await browser.register({
      name: `App ${evil}`,
      desc: `</textarea>${evil}`,
      website: `https://client.example/?"><script>alert(2)</script>`,
      redirect_uri,
    });
    const asked = { client_id: idOf(registered), redirect_uri, state: evil };
    const consent = await browser.visit(authorizeUrl(asked));
    const back = await browser.allow(consent);
    expect(back.url).not.toContain('<script>alert("1")');
    const list = await browser.visit('account/applications');
    for (const { status, html } of [account, registered, consent, list]) {
      expect(status).toBe(200);
      expect(html).not.toMatch(/<script|"1"/);
      expect(html).toContain('&lt;script&gt;');
    }
    expect(registered.html).toContain('&lt;/textarea&gt;');
  });

  test.each([
    ['redirect_uri', 'javascript:alert(1)'],
    ['redirect_uri', 'data:text/html,x'],
    ['redirect_uri', 'http://client.example/'],
    ['redirect_uri', 'https://client.example/#x'],
    ['redirect_uri', 'https://client.example/#'],
    ['redirect_uri', 'https://u:p@client.example/'],
    ['redirect_uri', 'https:client.example/'],
    ['redirect_uri', 'https:/client.example/'],
    ['redirect_uri', 'https:///client.example/'],
    ['redirect_uri', 'https:\\\\client.example/'],
    ['redirect_uri', 'https://client.example\\@evil.example/'],
    ['redirect_uri', 'com.example.app:/callback'],
    ['redirect_uri', 'http://localhost.evil.example/'],
    ['redirect_uri', 'http://127.0.0.2/'],
    ['redirect_uri', 'https://client.example/ x'],
    ['redirect_uri', 'https://client.example/\nx'],
    ['redirect_uri', 'https://\nevil.example/cb'],
    ['redirect_uri', 'https://\revil.example/cb'],
    ['redirect_uri', 'https://\tevil.example/cb'],
    ['redirect_uri', 'https://\nX-Injected:1/cb'],
    ['redirect_uri', 'https://日.example/'],
    ['redirect_uri', 'https://\u200bevil.example/'],
    ['redirect_uri', 'https://"evil/'],
    ['redirect_uri', 'https://@evil/'],
    ['redirect_uri', 'https://*.example/'],
    ['redirect_uri', 'https://client.example/é'],
    ['redirect_uri', 'https://client.example@evil.example/'],
    ['redirect_uri', 'https://'],
    ['redirect_uri', 'https://client.example:x/'],
    ['redirect_uri', '/callback'],
    ['redirect_uri', ''],
    ['website', 'javascript:alert(1)'],
    ['website', 'JaVaScRiPt:alert(1)'],
    ['website', ' javascript:alert(1)'],
    ['website', 'data:text/html,x'],
    ['website', 'vbscript:x'],
    ['website', 'client.example'],
    ['website', 'https://accounts.google.com@evil.example/'],
    ['website', 'https://accounts.google.com:x@evil.example/'],
    ['website', 'https://\nevil.example/'],
    ['website', 'https://日.example/'],
    ['name', ''],
    ['name', ' '],
    ['name', 'x'.repeat(65)],
    ['name', 'a\u0000b'],
    ['desc', 'x'.repeat(501)],
  ])('register no application with the %s %j', async (field, value) => {
    const form = await ann.visit('account/applications');
    const good = { name: 'A', desc: 'B\r\nC', website: 'http://localhost/', redirect_uri };
    const sent = { ...good, [field]: value };
    const shown = await ann.submit(form, 'Register', sent);
    expectFormAgain(shown, field, value);
    for (const [name, text] of Object.entries(sent)) {
      expect(contentOf(shown, name)).toBe(text.replaceAll('\r\n', '\n'));
    }
    // The corrected form keeps its id.
    expect(contentOf(shown, 'form_id')).toBe(contentOf(form, 'form_id'));
  });

  test('count a line break in a description as browsers do', async () => {
    const desc = `\n${'x\n'.repeat(249)}x`;
    const sent = { redirect_uri, desc: desc.replaceAll('\n', '\r\n') };
    const registered = await ann.register(sent);
    expect(noticeOn(registered)).toBe('The application is registered. Its credentials are below.');
    expect(contentOf(registered, 'desc')).toBe(desc);
  });

  test('register one application for a form that is sent twice', async () => {
    const { browser } = await come('Una');
    const form = await browser.visit('account/applications');
    const fields = { name: 'Once', desc: '', website: 'https://x.example', redirect_uri };
    const submit = (changes = {}) => browser.submit(form, 'Register', { ...fields, ...changes });
    const both = await Promise.all([submit(), submit()]);
    const [first, second] = both.map(idOf);
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(second).toBe(first);
    expect(idOf(await submit())).toBe(first);
    // Other content or another form makes another application, and another user cannot reach this
    // one.
    const others = [
      await submit({ desc: 'x' }),
      await browser.register(fields),
      await ann.register({ ...fields, form_id: contentOf(form, 'form_id') ?? '' }),
    ];
    expect(new Set([first, ...others.map(idOf)]).size).toBe(4);
    const list = await browser.visit('account/applications');
    expect(list.html.match(/>Once</g)).toHaveLength(3);
  });

  test('refuse a 26th application', async () => {
    const { browser, id } = await come('Max');
    for (let i = 0; i < 25; i++) await makeClient({ id });
    const shown = await browser.register({ name: 'X', redirect_uri });
    expect(shown.status).toBe(400);
    const fault = 'An account can have at most 25 applications: delete one first.';
    expect(faultsOn(shown)).toEqual({ '': fault });
    expect(contentOf(shown, 'name')).toBe('X');
  });

  test.each([
    'https://client.example',
    'https://client.example:8443/a?b=c',
    'http://localhost:8080/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/',
    'https://client.example/a/../b?x=%2F',
    'https://client.example?a',
    'https://xn--wgv71a.example/',
    'https://a_b.client-1.example/@c',
  ])('register the redirect URI %s unchanged', async (uri) => {
    const registered = await ann.register({ name: '名'.repeat(64), redirect_uri: uri });
    expect(registered.html).toContain(`value="${uri}"`);
    const asked = authorizeUrl({ client_id: idOf(registered), redirect_uri: uri });
    expect((await ann.allow(await ann.visit(asked))).url).toContain('code=');
  });

  test('accept the website https://client.example#about', async () => {
    const website = 'https://client.example#about';
    const registered = await ann.register({ website, redirect_uri });
    expect(registered.html).toContain(`value="${website}"`);
  });

  test('show only the user’s own applications', async () => {
    const csrf = csrfOn(await ann.visit('account/applications'));
    const at = `account/applications/${client_id}`;
    expectErrorPage(await ann.visit(at), 404);
    expectErrorPage(await ann.visit('account/applications/x'), 404);
    const registration = { name: 'Mine', desc: '', website: 'https://x.example', redirect_uri };
    for (const [path, fields] of [
      [at, registration],
      [`${at}/secret`, {}],
      [`${at}/revoke`, { everybody: 'yes' }],
      [`${at}/delete`, { confirm: 'yes' }],
    ] as const) {
      expectErrorPage(await ann.post(path, { csrf, ...fields }), 404);
      expectErrorPage(await ann.post(path, fields), 403);
      expectErrorPage(await stranger.post(path, { csrf, ...fields }), 401);
    }
    expect((await redeem(client, 'rvc_x')).body.error).toBe('invalid_grant');
  });

  test('change the profile', async () => {
    const { browser: hal, account: page } = await come('Hal');
    const saved = await hal.submit(page, 'Save', { display_name: 'Hal 9000', email: '' });
    expect(saved.html).toContain('<h1>Hal 9000</h1>');
    expect(saved.html).toContain('name="email" value=""');
    expect(noticeOn(saved)).toBe('Your profile is saved.');
    expect(noticeOn(await hal.visit('account'))).toBeUndefined();
    for (const [name, value, fault] of [
      ['display_name', '', 'Please fill this in.'],
      ['display_name', 'x'.repeat(65), 'It must have 1 to 64 characters.'],
      ['email', 'x', 'It must be one email address.'],
      ['email', `${'x'.repeat(250)}@a.example`, 'It must have at most 254 characters.'],
    ] as const) {
      const fields = { display_name: 'Hal', email: '', [name]: value };
      expectFormAgain(await hal.submit(page, 'Save', fields), name, value, fault);
    }
    // Both faults are shown at once.
    const both = await hal.submit(page, 'Save', { display_name: ' ', email: 'x' });
    expect(Object.keys(faultsOn(both))).toEqual(['', 'display_name', 'email']);
    expect((await hal.visit('account')).html).toContain('<h1>Hal 9000</h1>');
  });

  test('say what applications can read', async () => {
    const consent = await ann.visit(authorizeUrl());
    const told = textBetween(consent, '<strong>Know who you are.</strong>', '</li>');
    expect(told).toMatch(/email address.* drafts.* connected/);
    await redeem(client, codeIn(await ann.allow(consent)));
    const connections = await ann.visit('account/connections');
    expect(textBetween(connections, '<strong>Know who you are.</strong>', '</li>')).toBe(told);
    const { html } = await ann.visit('account');
    expect(html).toContain('Shown to applications that you connect, not to other people.');
  });

  test('accept forms only', async () => {
    const Cookie = `session=${ann.jar.get('session /')?.value}`;
    const response = await fetch(`${issuer}/account`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie },
      body: JSON.stringify({ display_name: 'X' }),
    });
    expect(response.status).toBe(400);
  });
});
