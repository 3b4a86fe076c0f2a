import { createHash } from 'node:crypto';
import { isAnn } from './samples.ts';
import { integer, listWith, sentence } from './suite/match.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

/** The body of an error of the token endpoint, in the characters of RFC 6749 section 5.2. */
const fault = (error: string) => ({
  error,
  error_description: /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
});
/** An error whose status the specification leaves open. */
const faults = (error: string) => ({ 400: fault(error), 401: fault(error) });
const client = {
  client_id: '{client_id}',
  client_secret: '{client_secret}',
  redirect_uri: '{redirect_uri}',
};
const refresh = (grant: string, fields: Record<string, string> = {}) => ({
  grant_type: 'refresh_token',
  refresh_token: `{${grant}_refresh}`,
  ...client,
  ...fields,
});
const redeem = (code: string, fields: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code: `{${code}}`,
  ...client,
  ...fields,
});
const basic = { Authorization: 'Basic {client_basic}' };
const { client_secret: _, ...withoutSecret } = refresh('basic');
const { client_id: __, ...withoutClient } = withoutSecret;
const { redirect_uri: ___, ...withoutUri } = withoutClient;
const isPage = { 'content-type': /^text\/html/ };
/** Ways in which a client authenticates. Libraries take the first one. */
const methods = ['client_secret_basic', 'client_secret_post', 'none'];
const noChallenge = { 'www-authenticate': undefined };

type Refusal = readonly [name: string, fields: Record<string, string>, error: string];

/** Requests for the tokens of a code that are refused, and leave the code as it is. */
const badRedeems: readonly Refusal[] = [
  ['Another grant_type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['client_credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ['An empty grant_type', { grant_type: '' }, 'invalid_request'],
  ['No code but a refresh token', { code: '', refresh_token: 'rvr_' }, 'invalid_request'],
  ['No client_id', { client_id: '' }, 'invalid_request'],
  ['An unknown code', { code: 'rvc_made-up' }, 'invalid_grant'],
  ['An access token for a code', { code: '{third_access}' }, 'invalid_grant'],
  ['A refresh token for a code', { code: '{third_refresh}' }, 'invalid_grant'],
  ['A code of another application', { client_id: '{open_id}', client_secret: '' }, 'invalid_grant'],
  ['A verifier without a challenge', { code_verifier: verifierOf('a') }, 'invalid_grant'],
  ['A wrong secret', { client_secret: 'rvs_wrong' }, 'invalid_client'],
  ['No credentials', { client_id: '', client_secret: '' }, 'invalid_client'],
  ['An unknown client', { client_id: 'f'.repeat(32) }, 'invalid_client'],
  ['A client id in capitals', { client_id: '{client_id:upper}' }, 'invalid_client'],
  ['A malformed client id', { client_id: '__proto__' }, 'invalid_client'],
];
/** Requests to refresh that are refused, and leave the grant as it is. */
const badRefreshes: readonly Refusal[] = [
  ['Another grant_type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['No client_id', { client_id: '' }, 'invalid_request'],
  ['An unknown refresh token', { refresh_token: `rvr_${'A'.repeat(118)}` }, 'invalid_grant'],
  ['An access token', { refresh_token: '{first_access}' }, 'invalid_grant'],
  ['Another application’s refresh token', { refresh_token: '{third_refresh}' }, 'invalid_grant'],
];
/** Requests to revoke that are refused. */
const badRevocations: readonly Refusal[] = [
  ['No token', { token: '' }, 'invalid_request'],
  ['No client_id', { client_id: '' }, 'invalid_request'],
  ['A wrong secret', { client_secret: 'rvs_x' }, 'invalid_client'],
  ['No secret', { client_secret: '' }, 'invalid_client'],
  ['A token of another application', { token: '{third_refresh}' }, 'invalid_grant'],
];
const refusing = (path: string, form: Record<string, string>, table: readonly Refusal[]) =>
  table.map(([name, fields, error]) =>
    decided(`${name} is refused`, `visitor POST ${path}`, {
      form: { ...form, ...fields },
      [error === 'invalid_client' ? 401 : 400]: fault(error),
      has: noChallenge,
    }),
  );
const badScopes = ['user', 'review user', 'admin', 'Review', 'review admin', 'constructor', '"'];

/** A form as text, with a field more. */
const formWith = (form: Record<string, string>, name: string) =>
  [...Object.entries(form), [name, '1']].map(([key, value]) => `${key}=${value}`).join('&');
const isForm = { 'Content-Type': 'application/x-www-form-urlencoded' };
/** Names of fields that are sent twice, with the word for them. */
const twice = [
  ...['grant_type', 'code', 'client_id', 'client_secret', 'redirect_uri'].map((name) => [
    name,
    name,
  ]),
  ['é"\\', 'A field'],
  ['x'.repeat(1000), 'A field'],
] as const;

function verifierOf(letter: string): string {
  return `${letter}-verifier-of-at-least-43-characters-for-the-contract`;
}
const verifier = verifierOf('a');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const authorize = '{auth}/oauth/authorize';
const asked = `${authorize}?response_type=code&client_id={client_id}&redirect_uri={redirect_uri}`;

// biome-ignore format: one row, one line
export const tokens: Section = {
  title: 'Refresh a token: POST /oauth/token',
  rows: [
    spec('A refresh answers with the token object', 'visitor POST /oauth/token', { form: refresh('first'), 200: { access_token: sentence, token_type: 'Bearer', expires_in: integer, refresh_token: sentence }, keep: { first_new: 'access_token', first_next: 'refresh_token' } }),
    spec('The new access token is accepted', 'first_new GET /user/me', isAnn),
    spec('The list of own tokens has the new refresh token', 'first_new GET /user/me/tokens', { 200: { tokens: listWith({ scopes: 'review vote', refresh_token: '{first_next}' }) } }),
    decided('The former access token lives until it expires', 'first_access GET /user/me', isAnn),
    spec('A refresh carries a new refresh token', 'visitor POST /oauth/token', { form: refresh('first', { refresh_token: '{first_next}' }), 200: { refresh_token: sentence } }),
    decided('An access token lives for 3,600 seconds, and the answer names its scope', 'visitor POST /oauth/token', { form: refresh('again'), 200: { access_token: /^rva_[\w-]+$/, refresh_token: /^rvr_[\w-]+$/, expires_in: 3600, scope: 'review vote' }, has: { 'cache-control': 'no-store', pragma: 'no-cache' }, keep: { again_next: 'refresh_token', again_new: 'access_token' } }),
    decided('A client that lost the answer gets the same one again', 'visitor POST /oauth/token', { form: refresh('again'), 200: { refresh_token: '{again_next}', access_token: '{again_new}' } }),
    given('visitor POST /oauth/token', { form: refresh('spent'), keep: { spent_next: 'refresh_token' } }),
    given('visitor POST /oauth/token', { form: refresh('spent', { refresh_token: '{spent_next}' }), keep: { spent_last: 'refresh_token', spent_new: 'access_token' } }),
    decided('An older refresh token is refused', 'visitor POST /oauth/token', { form: refresh('spent'), 400: fault('invalid_grant') }),
    decided('This ends the grant', 'visitor POST /oauth/token', { form: refresh('spent', { refresh_token: '{spent_last}' }), 400: fault('invalid_grant') }),
    decided('Its access tokens are refused', 'spent_new GET /user/me', { 401: 'invalid_token' }),
    decided('A refresh narrows the scopes', 'visitor POST /oauth/token', { form: refresh('narrow', { scope: 'review' }), keep: { narrow_new: 'access_token', narrow_next: 'refresh_token' } }),
    decided('The token then lacks the other scope', 'narrow_new PUT /review/{nobody}/vote', { json: { vote: true }, 403: 'insufficient_scope' }),
    ...badScopes.map((scope) => decided(`A refresh does not widen them to ${scope}`, 'visitor POST /oauth/token', { form: refresh('narrow', { refresh_token: '{narrow_next}', scope }), 400: fault('invalid_scope') })),
    decided('Without scope it has all of them again', 'visitor POST /oauth/token', { form: refresh('narrow', { refresh_token: '{narrow_next}' }), 200: { scope: 'review vote' } }),
    spec('grant_type is required', 'visitor POST /oauth/token', { form: refresh('basic', { grant_type: '' }), ...faults('invalid_request') }),
    ...refusing('/oauth/token', refresh('basic'), badRefreshes),
    decided('That of the other application stays good', 'visitor POST /oauth/token', { form: refresh('third', { client_id: '{other_id}', client_secret: '{other_secret}' }), keep: { third_next: 'refresh_token' } }),
    spec('refresh_token is required', 'visitor POST /oauth/token', { form: refresh('basic', { refresh_token: '' }), ...faults('invalid_request') }),
    spec('redirect_uri is required', 'visitor POST /oauth/token', { form: refresh('basic', { redirect_uri: '' }), ...faults('invalid_request') }),
    spec('redirect_uri is the registered one', 'visitor POST /oauth/token', { form: refresh('basic', { redirect_uri: 'https://client.example/other' }), ...faults('invalid_grant') }),
    spec('client_id and client_secret are required', 'visitor POST /oauth/token', { form: withoutClient, ...faults('invalid_client') }),
    spec('client_secret is required', 'visitor POST /oauth/token', { form: withoutSecret, ...faults('invalid_client') }),
    spec('client_secret is that of the application', 'visitor POST /oauth/token', { form: refresh('basic', { client_secret: 'wrong' }), ...faults('invalid_client') }),
    decided('Client and secret by HTTP Basic', 'visitor POST /oauth/token', { headers: basic, form: withoutClient, 200: { token_type: 'Bearer' }, keep: { basic_next: 'refresh_token' } }),
    decided('With HTTP Basic, redirect_uri may be absent', 'visitor POST /oauth/token', { headers: basic, form: { ...withoutUri, refresh_token: '{basic_next}' }, 200: { token_type: 'Bearer' }, keep: { basic_empty: 'refresh_token' } }),
    decided('An empty one counts as absent, and the form may name the client', 'visitor POST /oauth/token', { headers: basic, form: { ...withoutUri, refresh_token: '{basic_empty}', redirect_uri: '', client_id: '{client_id}', client_secret: '' }, keep: { basic_last: 'refresh_token' } }),
    ...['https://client.example/other', '{redirect_uri}/', '{redirect_uri:upper}', 'null'].map((redirect_uri) => decided(`Sent, it is the registered one, and not ${redirect_uri}`, 'visitor POST /oauth/token', { headers: basic, form: { ...withoutUri, refresh_token: '{basic_last}', redirect_uri }, 400: fault('invalid_grant') })),
    decided('A wrong secret by HTTP Basic is challenged', 'visitor POST /oauth/token', { headers: { Authorization: `Basic ${Buffer.from('x:y').toString('base64')}` }, form: { ...withoutClient, refresh_token: '{basic_last}' }, 401: fault('invalid_client'), has: { 'www-authenticate': /^Basic realm="/ } }),
    decided('HTTP Basic of another application is refused', 'visitor POST /oauth/token', { headers: basic, form: { ...withoutClient, client_id: '{other_id}', refresh_token: '{basic_last}' }, 400: fault('invalid_request') }),
    decided('HTTP Basic and client_secret together are refused', 'visitor POST /oauth/token', { headers: basic, form: refresh('basic', { refresh_token: '{basic_last}' }), 400: fault('invalid_request') }),
    decided('client_secret in the query is refused', 'visitor POST /oauth/token?client_secret={client_secret}', { form: { ...withoutSecret, refresh_token: '{basic_last}' }, 400: fault('invalid_request'), 401: fault('invalid_client') }),
    spec('The body is form-encoded', 'visitor POST /oauth/token', { json: refresh('basic'), 400: { error: sentence }, 401: { error: sentence }, 415: { error: sentence } }),
    decided('A form over 64 KB is refused', 'visitor POST /oauth/token', { form: refresh('basic', { more: 'x'.repeat(65 * 1024) }), 413: { error: sentence } }),
    decided('After all of this the token is good', 'visitor POST /oauth/token', { headers: basic, form: { ...withoutUri, refresh_token: '{basic_last}' } }),
    decided('Errors are those of RFC 6749', 'visitor POST /oauth/token', { form: { grant_type: 'refresh_token' }, 400: fault('invalid_request'), 401: fault('invalid_client'), has: { 'cache-control': 'no-store' }, quick: true }),
    decided('An access token expires', 'brief_access GET /user/me', { 401: 'invalid_token', eventually: true }),
    decided('The client revokes a token', 'visitor POST /oauth/revoke', { form: { token: '{ended_refresh}', client_id: '{client_id}', client_secret: '{client_secret}' }, 200: undefined }),
    spec('A refresh fails once the access is revoked', 'visitor POST /oauth/token', { form: refresh('ended'), ...faults('invalid_grant') }),
    decided('The access token is refused', 'ended_access GET /user/me', { 401: 'invalid_token' }),
    decided('Another grant to the same application stays', 'first_new GET /user/me', isAnn),
    ...['x', 'rva_x', 'rvr_', `rvr_${'A'.repeat(118)}`, '{ended_refresh}'].map((token) => decided(`Revoking ${token.slice(0, 20)} succeeds`, 'visitor POST /oauth/revoke', { form: { token, client_id: '{client_id}', client_secret: '{client_secret}' }, 200: {}, has: { 'cache-control': 'no-store' } })),
    ...refusing('/oauth/revoke', { token: 'x', client_id: '{client_id}', client_secret: '{client_secret}' }, badRevocations),
    decided('A revocation needs the client', 'visitor POST /oauth/revoke', { form: { token: 'x' }, 401: fault('invalid_client') }),
    decided('What was refused revokes nothing', 'visitor POST /oauth/token', { form: refresh('third', { refresh_token: '{third_next}', client_id: '{other_id}', client_secret: '{other_secret}' }) }),
  ],
};

const openAsked = `${authorize}?response_type=code&client_id={open_id}&redirect_uri={redirect_uri}`;
const openChallenge = `code_challenge=${challenge}&code_challenge_method=S256`;
const openRedeem = (fields: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code: '{open_code}',
  client_id: '{open_id}',
  redirect_uri: '{redirect_uri}',
  code_verifier: verifier,
  ...fields,
});
/** Requests of a thief of its code, who lacks something. */
const badOpenRedeems: readonly Refusal[] = [
  ['No verifier', { code_verifier: '' }, 'invalid_grant'],
  ['Another verifier', { code_verifier: verifierOf('b') }, 'invalid_grant'],
  ['The challenge for a verifier', { code_verifier: challenge }, 'invalid_grant'],
  ['A short verifier', { code_verifier: verifier.slice(-42) }, 'invalid_grant'],
  ['No redirect_uri', { redirect_uri: '' }, 'invalid_request'],
  ['Another redirect_uri', { redirect_uri: '{redirect_uri}/' }, 'invalid_grant'],
  ['No client_id', { client_id: '' }, 'invalid_client'],
  ['A secret', { client_secret: 'rvs_x' }, 'invalid_client'],
];
const badOpenRefreshes: readonly Refusal[] = [
  ['A secret', { client_secret: 'rvs_x' }, 'invalid_client'],
  ['No client_id', { client_id: '' }, 'invalid_client'],
  ['Another redirect_uri', { redirect_uri: '{redirect_uri}/' }, 'invalid_grant'],
];
const openRefresh = (refresh_token: string) => ({
  grant_type: 'refresh_token',
  refresh_token,
  client_id: '{open_id}',
});

// biome-ignore format: one row, one line
export const publicApplication: Section = {
  title: 'A public application: without a secret',
  rows: [
    decided('A refresh needs neither secret nor redirect_uri', 'visitor POST /oauth/token', { form: openRefresh('{page_refresh}'), 200: { token_type: 'Bearer', refresh_token: sentence, scope: 'review vote' }, keep: { page_next: 'refresh_token' } }),
    ...refusing('/oauth/token', openRefresh('{page_next}'), badOpenRefreshes),
    decided('It may send the registered redirect_uri', 'visitor POST /oauth/token', { form: { ...openRefresh('{page_next}'), redirect_uri: '{redirect_uri}' } }),
    decided('Without a challenge it gets no code', `browser APPROVE ${openAsked}&state=s`, { 302: { error: 'invalid_request', state: 's', code: undefined } }),
    decided('A plain challenge is refused', `browser APPROVE ${openAsked}&code_challenge=${verifier}&code_challenge_method=plain`, { 302: { error: 'invalid_request', code: undefined } }),
    decided('With a challenge it gets a code', `browser APPROVE ${openAsked}&scope=review&${openChallenge}`, { 302: { code: sentence, iss: '{auth}' }, keep: { open_code: 'code' } }),
    ...refusing('/oauth/token', openRedeem(), badOpenRedeems),
    decided('The code is refused to another application', 'visitor POST /oauth/token', { form: openRedeem({ client_id: '{client_id}', client_secret: '{client_secret}' }), 400: fault('invalid_grant') }),
    decided('With the verifier it gives tokens to a page of any origin', 'visitor POST /oauth/token', { form: openRedeem(), 200: { access_token: sentence, refresh_token: sentence, scope: 'review' }, has: { 'access-control-allow-origin': '*' }, keep: { opened: 'access_token' } }),
    decided('Another application that sends the code again is refused', 'visitor POST /oauth/token', { form: openRedeem({ client_id: '{client_id}', client_secret: '{client_secret}' }), 400: fault('invalid_grant') }),
    decided('They act for the user', 'opened GET /user/me', isAnn),
    decided('A confidential application still needs its secret', 'visitor POST /oauth/token', { form: { grant_type: 'refresh_token', refresh_token: 'x', client_id: '{client_id}', redirect_uri: '{redirect_uri}' }, 401: fault('invalid_client') }),
    decided('It revokes its tokens without a secret', 'visitor POST /oauth/revoke', { form: { token: '{opened}', client_id: '{open_id}' }, 200: undefined }),
    decided('They are refused then', 'opened GET /user/me', { 401: 'invalid_token' }),
  ],
};

// biome-ignore format: one row, one line
export const authorization: Section = {
  title: 'Authorize an application: /oauth/authorize',
  rows: [
    spec('If approved, the browser carries a code and the state', `browser APPROVE ${asked}&scope=review,vote&state=a%20b%26c`, { 302: { code: sentence, state: 'a b&c', error: undefined }, keep: { code: 'code' } }),
    decided('It carries the issuer', `browser APPROVE ${asked}&scope=review&state=s`, { 302: { iss: '{auth}' }, keep: { misused: 'code' } }),
    spec('A code is redeemed for the token object', 'visitor POST /oauth/token', { form: redeem('code'), 200: { access_token: sentence, token_type: 'Bearer', expires_in: integer, refresh_token: sentence }, keep: { coded: 'access_token', coded_refresh: 'refresh_token' } }),
    spec('The access token acts for the user', 'coded GET /user/me', isAnn),
    spec('The grant has the scopes that were asked for', 'coded GET /user/me/tokens', { 200: { tokens: listWith({ scopes: /^review[ ,]+vote$/, refresh_token: '{coded_refresh}' }) } }),
    decided('A code is good once', 'visitor POST /oauth/token', { form: redeem('code'), 400: fault('invalid_grant') }),
    decided('A second use ends the grant', 'coded GET /user/me', { 401: 'invalid_token' }),
    spec('redirect_uri is the registered one', 'visitor POST /oauth/token', { form: redeem('misused', { redirect_uri: 'https://client.example/other' }), ...faults('invalid_grant') }),
    spec('redirect_uri is required', 'visitor POST /oauth/token', { form: redeem('misused', { redirect_uri: '' }), ...faults('invalid_request') }),
    spec('client_secret is required', 'visitor POST /oauth/token', { form: redeem('misused', { client_secret: '' }), ...faults('invalid_client') }),
    spec('code is required', 'visitor POST /oauth/token', { form: redeem('misused', { code: '' }), ...faults('invalid_request') }),
    ...refusing('/oauth/token', redeem('misused'), badRedeems),
    ...twice.map(([name, word]) => decided(`${word} that is sent twice is refused: ${name.slice(0, 20)}`, 'visitor POST /oauth/token', { body: formWith({ ...redeem('misused'), [encodeURIComponent(name)]: '1' }, encodeURIComponent(name)), headers: isForm, 400: { error: 'invalid_request', error_description: `${word} must be sent only once` } })),
    ...['application/json', 'text/plain', 'multipart/form-data; boundary=x', `${isForm['Content-Type']}x`, ''].map((type) => decided(`A form of the type “${type}” is refused`, 'visitor POST /oauth/token', { body: formWith(redeem('misused'), 'x'), headers: { 'Content-Type': type }, 400: fault('invalid_request') })),
    decided('Anything in the query is refused', 'visitor POST /oauth/token?x=1', { form: redeem('misused'), 400: fault('invalid_request') }),
    decided('redirect_uri is required with HTTP Basic, too', 'visitor POST /oauth/token', { headers: basic, form: { grant_type: 'authorization_code', code: '{misused}' }, 400: fault('invalid_request') }),
    decided('After all of this the code is good, and an empty verifier counts as none', 'visitor POST /oauth/token', { form: redeem('misused', { code_verifier: '' }), 200: { scope: 'review' } }),
    spec('If refused, the browser carries access_denied and the state', `browser REFUSE ${asked}&scope=review&state=s`, { 302: { error: 'access_denied', state: 's', code: undefined } }),
    spec('Without a state none is returned', `browser REFUSE ${asked}&scope=review`, { 302: { error: 'access_denied', state: undefined } }),
    spec('scope is optional, and so is state', `browser APPROVE ${asked}`, { 302: { code: sentence, state: undefined }, keep: { plain_code: 'code' } }),
    given('visitor POST /oauth/token', { form: redeem('plain_code'), keep: { scopeless: 'access_token' } }),
    decided('Without scope none is granted', 'scopeless POST /review/', { json: {}, 403: 'insufficient_scope' }),
    decided('response_type is code', `browser APPROVE ${authorize}?response_type=token&client_id={client_id}&redirect_uri={redirect_uri}&state=s`, { 302: { error: 'unsupported_response_type', state: 's' } }),
    decided('An unknown scope is refused', `browser APPROVE ${asked}&scope=admin&state=s`, { 302: { error: 'invalid_scope', state: 's' } }),
    decided('A PKCE challenge with S256', `browser APPROVE ${asked}&code_challenge=${challenge}&code_challenge_method=S256`, { 302: { code: sentence }, keep: { pkce_code: 'code' } }),
    decided('The code then needs the verifier', 'visitor POST /oauth/token', { form: redeem('pkce_code'), 400: { error: /^invalid_(grant|request)$/, error_description: sentence } }),
    given(`browser APPROVE ${asked}&code_challenge=${challenge}&code_challenge_method=S256&state=2`, { 302: {}, keep: { second_pkce: 'code' } }),
    ...[verifierOf('b'), challenge, ''].map((code_verifier) => decided(`The verifier “${code_verifier.slice(0, 9)}” is refused`, 'visitor POST /oauth/token', { form: redeem('second_pkce', { code_verifier }), 400: fault('invalid_grant') })),
    decided('With the verifier it is redeemed', 'visitor POST /oauth/token', { form: redeem('second_pkce', { code_verifier: verifier }), 200: { access_token: sentence } }),
    decided('A plain PKCE challenge is refused', `browser APPROVE ${asked}&code_challenge=${verifier}&code_challenge_method=plain&state=s`, { 302: { error: 'invalid_request', state: 's' } }),
    decided('Somebody who has not signed in is never sent to the application', `visitor GET ${authorize}?response_type=token&client_id={client_id}&redirect_uri={redirect_uri}`, { 400: undefined, 303: undefined, has: { location: /^(?!https:\/\/client\.example)/ } }),
    decided('response_type is required', `browser APPROVE ${authorize}?client_id={client_id}&redirect_uri={redirect_uri}&state=s`, { 302: { error: 'invalid_request', state: 's' } }),
    decided('A request without an application is a page, not a redirect', `visitor GET ${authorize}`, { 400: /<h1/, has: isPage, quick: true }),
    spec('client_id is required', `visitor GET ${authorize}?response_type=code&redirect_uri={redirect_uri}`, { 400: /<h1/, has: isPage }),
    decided('An unknown application is a page, not a redirect', `visitor GET ${authorize}?response_type=code&client_id=0&redirect_uri={redirect_uri}`, { 400: /<h1/, has: isPage }),
    spec('redirect_uri matches exactly', `visitor GET ${asked}%3Fmore`, { 400: /<h1/, has: isPage }),
    spec('redirect_uri is required', `visitor GET ${authorize}?response_type=code&client_id={client_id}`, { 400: /<h1/, has: isPage }),
    decided('A parameter that is sent twice is refused', `visitor GET ${asked}&client_id={client_id}`, { 400: /<h1/, has: isPage }),
    decided('A state of 2 KB', `browser REFUSE ${asked}&state=${'s'.repeat(2048)}`, { 302: { error: 'access_denied', state: 's'.repeat(2048) } }),
    decided('A longer state is refused', `browser APPROVE ${asked}&state=${'s'.repeat(2049)}`, { 302: { error: 'invalid_request' } }),
    spec('Plain HTTP is refused', 'visitor GET {plain}/oauth/authorize', { 0: undefined, 301: undefined, 302: undefined, 308: undefined, 400: undefined, 403: undefined, 404: undefined, 426: undefined, quick: true }),
    decided('The metadata of the server name its addresses', 'visitor GET {auth}/.well-known/oauth-authorization-server', { 200: { issuer: '{auth}', authorization_endpoint: '{auth}/oauth/authorize', token_endpoint: '{base}/oauth/token', revocation_endpoint: '{base}/oauth/revoke', service_documentation: sentence }, keep: { documentation: 'service_documentation' }, quick: true }),
    decided('Its documentation is a page', 'visitor GET {documentation}', { 200: /<h1/, has: isPage, quick: true }),
    decided('They name scopes, grants and methods', 'visitor GET {auth}/.well-known/oauth-authorization-server', { 200: { scopes_supported: ['review', 'vote', 'user'], response_types_supported: ['code'], response_modes_supported: ['query'], grant_types_supported: ['authorization_code', 'refresh_token'], token_endpoint_auth_methods_supported: methods, revocation_endpoint_auth_methods_supported: methods, code_challenge_methods_supported: ['S256'], authorization_response_iss_parameter_supported: true } }),
    decided('Sign-in leads to the identity provider', 'visitor GET {auth}/account/sign-in', { 302: undefined, 303: undefined, has: { location: /^https?:.*[?&]code_challenge_method=S256/ }, keep: { provider: '@location' }, quick: true }),
    decided('The identity provider answers', 'visitor GET {provider}', { 200: undefined, 302: undefined, 303: undefined, quick: true }),
  ],
};
