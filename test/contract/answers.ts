import { invalid } from './samples.ts';
import { sentence } from './suite/match.ts';
import { decided, type Section, spec } from './suite/row.ts';

const bearer = { 'www-authenticate': /^Bearer / };
const anyOrigin = { 'access-control-allow-origin': '*' };

/** Requests that need a token, with the scope that they need. */
const protectedRequests: readonly [request: string, scope?: 'review' | 'vote' | 'user'][] = [
  ['POST /review/', 'review'],
  ['POST /review/{nobody}', 'review'],
  ['DELETE /review/{nobody}', 'review'],
  ['POST /review/{nobody}/report', 'vote'],
  ['GET /review/{nobody}/vote', 'vote'],
  ['PUT /review/{nobody}/vote', 'vote'],
  ['DELETE /review/{nobody}/vote', 'vote'],
  ['GET /user/me/applications'],
  ['GET /user/me/reviews'],
  ['GET /user/me/tokens'],
  ['GET /user/me'],
  ['POST /user/me', 'user'],
  ['DELETE /user/me', 'user'],
];
/** A token without each scope. */
const without = { review: 'ann_vote', vote: 'ann_review', user: 'ann_vote' };
const badTokens = [undefined, 'Bearer rva_nonsense', 'Bearer ', 'Basic YTpi'];
const lists = ['/review', '/review/languages', '/user'];
const bulk = ['/reviews', '/reviews/'];
const paths = [
  '/review/',
  '/review/languages',
  '/review/{nobody}',
  '/review/{nobody}/vote',
  '/reviews/',
  '/user/me',
  '/oauth/token',
];

// biome-ignore format: one row, one line
export const access: Section = {
  title: 'Tokens and scopes',
  rows: [
    ...protectedRequests.map(([request]) => decided(`${request} needs a token`, `visitor ${request}`, { 401: 'invalid_token', has: bearer })),
    ...protectedRequests.flatMap(([request, scope]) => (scope ? [decided(`${request} needs the scope ${scope}`, `${without[scope]} ${request}`, { 403: 'insufficient_scope', has: { 'www-authenticate': new RegExp(`^Bearer .*scope="${scope}"`) } })] : [])),
    ...protectedRequests.flatMap(([request, scope]) => (scope === undefined ? [spec(`${request} needs no scope`, `ann_none ${request}`)] : [])),
    ...badTokens.map((value) => decided(`Authorization: ${value ?? 'none'} is 401`, 'visitor PUT /review/{nobody}/vote', { headers: value === undefined ? {} : { Authorization: value }, 401: { error: 'invalid_token', description: sentence }, has: { ...bearer, ...anyOrigin }, quick: true })),
    decided('The scheme may be in lower case', 'visitor GET /user/me', { headers: { Authorization: 'bearer {ann}' } }),
  ],
};

// biome-ignore format: one row, one line
export const answers: Section = {
  title: 'Every answer',
  rows: [
    spec('Answers are JSON', 'visitor GET /review/languages', { has: { 'content-type': /^application\/json\b/ }, quick: true }),
    decided('An error has a code and a description', 'visitor GET /review/{nobody}', { 404: { error: 'not_found', description: sentence }, quick: true }),
    decided('The description names the parameter', 'visitor GET /review/?limit=51', { ...invalid('limit'), quick: true }),
    decided('An unknown path is 404', 'visitor GET /nothing/here', { 404: 'not_found', quick: true }),
    decided('An unknown path is 404 with any token', 'visitor GET /nothing/here', { headers: { Authorization: 'Bearer rva_nonsense' }, 404: 'not_found', quick: true }),
    decided('An unknown path outside of the API is 404', 'visitor GET {auth}/nothing', { 404: undefined, quick: true }),
    decided('Another method is 405', 'visitor PUT /review/', { 405: 'method_not_allowed', has: { ...anyOrigin, allow: /\bGET\b/ }, quick: true }),
    decided('DELETE of a list is 405', 'visitor DELETE /user/', { 405: 'method_not_allowed' }),
    decided('GET of the token endpoint is 405', 'visitor GET /oauth/token', { 405: 'method_not_allowed' }),
    ...lists.flatMap((list) => [list, `${list}/`]).map((path) => decided(`${path} is answered without a redirect`, `visitor GET ${path}?limit=0`, { quick: true })),
    ...bulk.map((path) => decided(`${path} is answered without a redirect`, `visitor GET ${path}?review_ids={nobody}`)),
    decided('/review/{review_id}/ is answered without a redirect', 'visitor GET /review/{album}/', { 200: { review: { id: '{album}' } } }),
    decided('Any origin reads answers', 'visitor GET /review/?limit=0', { headers: { Origin: 'https://app.example' }, has: anyOrigin }),
    decided('Any origin reads errors', 'visitor GET /review/{nobody}', { headers: { Origin: 'https://app.example' }, 404: {}, has: { ...anyOrigin, 'access-control-allow-credentials': undefined } }),
    ...paths.map((path) => decided(`A preflight of ${path}`, `visitor OPTIONS ${path}`, { headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization,content-type' }, 204: undefined, 200: undefined, has: { ...anyOrigin, 'access-control-allow-headers': /authorization.*content-type|content-type.*authorization/i }, quick: true })),
    decided('HEAD is GET without the body', 'visitor HEAD /review/languages', { 200: '', has: { 'content-type': /^application\/json\b/, etag: sentence } }),
    decided('HEAD of a list', 'visitor HEAD /review/', { 200: '' }),
    decided('HEAD of a review', 'visitor HEAD /review/{album}', { 200: '' }),
    decided('HEAD of an unknown review', 'visitor HEAD /review/{nobody}', { 404: undefined }),
  ],
};

const publicPaths = [
  '/review/languages',
  '/review/?entity_id={entity_album}',
  '/review/{album}',
  '/review/{album}/revisions',
  '/review/{album}/revisions/1',
  '/reviews/?review_ids={album}',
  '/user/{ann_id}',
];

// biome-ignore format: one row, one line
export const conditions: Section = {
  title: 'Conditional requests',
  rows: [
    ...publicPaths.flatMap((path, index) => [
      decided(`${path} has a strong ETag`, `visitor GET ${path}`, { has: { etag: /^"/ }, keep: { [`etag_${index}`]: '@etag' } }),
      decided('It comes back as 304', `visitor GET ${path}`, { headers: { 'If-None-Match': `{etag_${index}}` }, 304: '' }),
    ]),
    decided('Another ETag is answered in full', 'visitor GET /review/{album}', { headers: { 'If-None-Match': '"other"' }, 200: { review: { id: '{album}' } } }),
    decided('One of several is enough', 'visitor GET /review/{album}', { headers: { 'If-None-Match': '"other", {etag_2}' }, 304: '' }),
    decided('An update under its ETag succeeds', 'ann POST /review/{album}', { headers: { 'If-Match': '{etag_2}' }, json: { rating: 4 }, has: { etag: /^"/ }, keep: { etag_new: '@etag' } }),
    decided('An update under the former ETag is 412', 'ann POST /review/{album}', { headers: { 'If-Match': '{etag_2}' }, json: { rating: 3 }, 412: 'precondition_failed' }),
    decided('It changes nothing', 'visitor GET /review/{album}', { 200: { review: { rating: 4 } } }),
    decided('The ETag of the answer is good for the next', 'ann POST /review/{album}', { headers: { 'If-Match': '{etag_new}' }, json: { rating: 5 }, keep: { etag_last: '@etag' } }),
    decided('A vote between does not count', 'ben PUT /review/{album}/vote', { json: { vote: true } }),
    decided('The update after it succeeds', 'ann POST /review/{album}', { headers: { 'If-Match': '{etag_last}' }, json: { rating: 2 } }),
    decided('If-Match: * succeeds', 'ann POST /review/{album}', { headers: { 'If-Match': '*' }, json: { rating: 3 } }),
    decided('A malformed If-Match is 400', 'ann POST /review/{album}', { headers: { 'If-Match': 'x' }, json: { rating: 1 }, 400: { error: 'invalid_request', description: /If-Match/i } }),
    decided('A deletion under a former ETag is 412', 'ann DELETE /review/{album}', { headers: { 'If-Match': '{etag_2}' }, 412: 'precondition_failed' }),
  ],
};
