import * as v from 'valibot';
import { cursorGone, idempotencyMismatch, methodNotAllowed } from '../../shared/base/errors.ts';
import type { Route } from '../../shared/base/routes.ts';
import type { Docs } from '../../shared/core/http/endpoint.ts';
import type { errorCodes } from '../../shared/core/http/error-codes.ts';
import {
  type RequestParts,
  type RequestSchema,
  readRequest,
} from '../../shared/core/http/read-request.ts';
import { fieldsOf } from './schemas.ts';

// Errors and headers in the OpenAPI document.

/** A route, with the exports of its file under functions/. */
export interface Endpoint {
  route: Route;
  request: RequestSchema;
  response: v.GenericSchema;
  docs: Docs<RequestSchema> & { fields?: Record<string, string> };
}

/** Codes of RFC 6749 section 5.2 that no other endpoint has. */
type OAuthErrorCode =
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'invalid_client';

export type ErrorCode = (typeof errorCodes)[number] | OAuthErrorCode;

/** The status of each error code, and an example of its description. */
export const errors = {
  invalid_request: [400, 'cursor must be one that came with a part of your own data'],
  invalid_grant: [400, 'redirect_uri must be exactly the registered one'],
  invalid_scope: [400, 'scope may hold review, vote and user'],
  unsupported_grant_type: [400, 'grant_type must be authorization_code or refresh_token'],
  not_authorized: [401, 'This request needs an access token'],
  invalid_token: [
    401,
    'This request needs a valid access token in the header Authorization: Bearer <access token>',
  ],
  invalid_client: [401, 'The client is unknown or its secret is missing or wrong'],
  insufficient_scope: [403, 'This request needs an access token with the scope review'],
  access_denied: [403, 'The review is by somebody else'],
  limit_exceeded: [403, 'The votes of today are used up'],
  not_found: [404, 'Review not found'],
  method_not_allowed: [405, methodNotAllowed(['GET', 'POST']).message],
  gone: [410, cursorGone().message],
  precondition_failed: [412, 'The review has changed: read it again, then try with its new ETag'],
  payload_too_large: [413, 'A JSON body may have at most 128 KB, a form 64 KB'],
  unsupported_media_type: [415, 'The body must be sent as Content-Type: application/json'],
  idempotency_mismatch: [422, idempotencyMismatch().message],
  too_many_requests: [429, 'Too many requests: slow down, then try again'],
  server_error: [500, 'The request could not be processed; please report the request_id'],
  not_implemented: [501, 'format must be json'],
  service_unavailable: [503, 'Busy: please try again in a moment'],
} satisfies Record<ErrorCode, [status: number, example: string]>;

/** Conditions of errors, unless the endpoint describes its own. */
export const occasions: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'A parameter or field is missing or not valid; the description names it.',
  not_authorized: 'There is no access token.',
  invalid_token: 'The access token is missing, invalid, expired or revoked.',
  insufficient_scope: 'The access token lacks the scope.',
  not_found: 'There is no such thing.',
  precondition_failed: 'The review has changed since the `ETag` in `If-Match`.',
  payload_too_large: 'The body is larger than this endpoint reads: 128 KB of JSON, a form 64 KB.',
  unsupported_media_type: 'The body is not of the type, or not in UTF-8.',
  idempotency_mismatch: 'The `Idempotency-Key` was used for another request in the last 24 hours.',
  too_many_requests: 'There were too many requests at once, or changes of one thing.',
  server_error: 'The fault is ours.',
  service_unavailable: 'The service is busy. Retry later.',
};

/** The error codes of an endpoint, each with its condition. */
export function errorsOf({ route, request, docs }: Endpoint): [code: ErrorCode, when: string][] {
  const { caller, path, query, body, if_match, idempotency_key } = request.entries;
  const own: typeof occasions = docs.errors ?? {};
  const codes = new Set([
    ...(query || body || if_match || idempotency_key ? ['invalid_request'] : []),
    ...(caller ? ['not_authorized', 'invalid_token'] : []),
    ...(caller && route.access !== 'token' ? ['insufficient_scope'] : []),
    ...(path ? ['not_found'] : []),
    ...(if_match ? ['precondition_failed'] : []),
    ...(body ? ['payload_too_large', 'unsupported_media_type'] : []),
    ...(idempotency_key ? ['idempotency_mismatch'] : []),
    ...Object.keys(own),
    'too_many_requests',
    'server_error',
    'service_unavailable',
  ]);
  return ([...codes] as ErrorCode[]).map((code) => [code, own[code] ?? occasions[code] ?? '']);
}

/** The route answers with the errors of RFC 6749. */
export function isOAuthForm({ route }: Pick<Endpoint, 'route'>): boolean {
  return route.path.startsWith('/oauth/');
}

export function headerRefs(names: readonly string[]) {
  const refs = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return names.length > 0 && { headers: Object.fromEntries(refs) };
}

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
});

export const headers = {
  ETag: header(
    'Identifies this version of the answer. Send it as `If-None-Match` to get an empty 304 if nothing changed. For a review, it also works as `If-Match`, also that of the answer to a publication or an edit.',
    '"1.kYbZAWGHq0z9Qc0nqXJMwA"',
  ),
  Link: header(
    'Leads on (RFC 8288), relative to the request: `next` to the next page, if there is one, and `alternate` to the same as an Atom feed (`application/atom+xml`) or as a page for people (`text/html`).',
    '<?limit=50&cursor=…>; rel="next"',
  ),
  'Idempotent-Replayed': {
    description: '`true` if this is the stored answer of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Policy': header(
    'The daily limit of votes, reports, publications, edits or changes of the public name.',
    '"votes";q=10;w=86400',
  ),
  RateLimit: header(
    'The number left, and the seconds until the limit resets.',
    '"votes";r=7;t=12600',
  ),
  'Retry-After': header(
    'Seconds to wait before a retry. Absent where the same request cannot succeed.',
    1,
  ),
  'WWW-Authenticate': header(
    'The problem with the credentials (RFC 6750 section 3).',
    'Bearer realm="review", error="invalid_token"',
  ),
};

/** Returns the sentence that the endpoint answers to a wrong request, if it reads anything. */
function faultOf({ route, request }: Endpoint): string | undefined {
  const { body, query, if_match, idempotency_key } = request.entries;
  // A form has texts only.
  const ofBody = isOAuthForm({ route }) ? [] : fieldsOf(body);
  const inBody = ofBody.map(([name]) => ({ body: { [name]: {} } }));
  const inQuery = fieldsOf(query).map(([name]) => ({ query: { [name]: ['?'] } }));
  const tries: [v.GenericSchema | undefined, string, Partial<RequestParts>[]][] = [
    [body, 'body', [...inBody, { body: {} }]],
    [query, 'query', inQuery],
    [if_match, 'if_match', [{ if_match: 'x' }]],
    [idempotency_key, 'idempotency_key', [{ idempotency_key: '' }]],
  ];
  for (const [schema, part, wrong] of tries) {
    for (const parts of schema ? wrong : []) {
      try {
        readRequest(v.object({ [part]: schema as v.GenericSchema }), { ...nothing, ...parts });
      } catch (error) {
        return (error as Error).message;
      }
    }
  }
  return undefined;
}

/** A request without any part. */
const nothing: RequestParts = {
  method: 'GET',
  caller: undefined,
  path: {},
  query: {},
  query_string: '',
  if_match: undefined,
  idempotency_key: undefined,
  body: undefined,
};

/** Returns the error responses of an endpoint by status. Examples are named by error code. */
export function failuresOf(endpoint: Endpoint): Record<string, unknown> {
  const byStatus = Map.groupBy(errorsOf(endpoint), ([code]) => errors[code][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, cases]) => [status, failure(endpoint, status, cases)]),
  );
}

function failure(endpoint: Endpoint, status: number, cases: ReturnType<typeof errorsOf>) {
  // A 429 of API Gateway has the same shape on all routes.
  const isOAuth = isOAuthForm(endpoint) && status !== 429;
  const isLimit = cases.some(([code]) => code === 'limit_exceeded');
  const exampleOf = (code: ErrorCode) => ({
    error: code,
    [isOAuth ? 'error_description' : 'description']:
      (code === 'invalid_request' && faultOf(endpoint)) || errors[code][1],
    ...(status >= 500 && { request_id: '6f1e0a52-7b0c-4f43-9d2c-0a2d4f5e6b7c' }),
  });
  return {
    description: cases.map(([code, when]) => `\`${code}\`: ${when}`).join('\n\n'),
    ...headerRefs([
      ...(status === 401 || status === 403 ? ['WWW-Authenticate'] : []),
      ...(status === 429 || status === 503 || isLimit ? ['Retry-After'] : []),
      ...(isLimit ? ['RateLimit', 'RateLimit-Policy'] : []),
    ]),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${isOAuth ? 'OAuthError' : 'Error'}` },
        examples: Object.fromEntries(cases.map(([code]) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}
