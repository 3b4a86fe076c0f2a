import { commonHeaders } from '../shared/core/http/response.ts';

/** Returns headers with these values in API Gateway's mapping syntax. */
export function literals(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));
}

/**
 * A response of API Gateway itself, made without a Lambda, with the default status of `type` unless
 * given. Headers are in its mapping syntax: a literal in single quotes, or `context.…`. The body is
 * a template. It inserts `$context.…` unescaped, so name only values that need no escape.
 */
function response(
  type: string,
  status: number | undefined,
  error: string,
  description: string,
  headers: Record<string, string> = {},
) {
  const fixed = literals({ ...commonHeaders, 'Cache-Control': 'no-store' });
  const request_id = status !== undefined && status >= 500 ? '$context.requestId' : undefined;
  const body = JSON.stringify({ error, description, request_id });
  // A customised type gets no headers of a default, so each type carries all.
  return { type, status, headers: { ...fixed, ...headers }, body };
}

const tooLarge = 'A JSON body may have at most 128 KB, a form 64 KB, a file 4 MB';
const busy = 'Too many requests: slow down, then try again';
const later = 'Please try again in a moment';
const broken = 'The request could not be processed; please report the request_id';

/**
 * Responses that clients can meet, in the API's error format. API Gateway cannot tell a missing
 * token from an invalid one, so both get the header for an invalid one (RFC 6750 section 3.1). The
 * authorizer supplies the header that names the missing scope.
 */
export const gatewayResponses = [
  response(
    'UNAUTHORIZED',
    401,
    'invalid_token',
    'This request needs a valid access token in the header Authorization: Bearer <access token>',
    { 'WWW-Authenticate': `'Bearer realm="review", error="invalid_token"'` },
  ),
  response('ACCESS_DENIED', 403, 'insufficient_scope', '$context.authorizer.description', {
    'WWW-Authenticate': 'context.authorizer.challenge',
  }),
  response('MISSING_AUTHENTICATION_TOKEN', 404, 'not_found', 'There is nothing at this path'),
  response('RESOURCE_NOT_FOUND', 404, 'not_found', 'There is nothing at this path'),
  response('INVALID_SIGNATURE', 404, 'not_found', 'There is nothing at this path'),
  response('EXPIRED_TOKEN', 403, 'access_denied', 'AWS credentials are not accepted here'),
  response('INVALID_API_KEY', 403, 'access_denied', 'This API key is not accepted'),
  response('WAF_FILTERED', 403, 'access_denied', 'The request was refused by the firewall'),
  response('BAD_REQUEST_BODY', 400, 'invalid_request', 'The body must be text in UTF-8'),
  response('BAD_REQUEST_PARAMETERS', 400, 'invalid_request', 'A parameter is not valid'),
  // API Gateway refuses bodies over 10 MB, Lambda events over 6 MB, and handlers much smaller ones.
  response('REQUEST_TOO_LARGE', 413, 'payload_too_large', tooLarge),
  response('UNSUPPORTED_MEDIA_TYPE', 415, 'unsupported_media_type', 'Send JSON'),
  response('THROTTLED', 429, 'too_many_requests', busy, { 'Retry-After': `'1'` }),
  response('QUOTA_EXCEEDED', 429, 'too_many_requests', busy, { 'Retry-After': `'60'` }),
  response('API_CONFIGURATION_ERROR', 500, 'server_error', broken),
  response('AUTHORIZER_CONFIGURATION_ERROR', 500, 'server_error', broken),
  // The authorizer fails without the database. A retry is safe, because nothing has changed.
  response('AUTHORIZER_FAILURE', 503, 'service_unavailable', later, { 'Retry-After': `'1'` }),
  response('INTEGRATION_FAILURE', 503, 'service_unavailable', later, { 'Retry-After': `'1'` }),
  response('INTEGRATION_TIMEOUT', 503, 'service_unavailable', later, { 'Retry-After': `'1'` }),
  response('DEFAULT_4XX', undefined, 'invalid_request', 'The request is not valid'),
  response(
    'DEFAULT_5XX',
    undefined,
    'server_error',
    'The request could not be processed; please try again',
  ),
];

/**
 * Pattern of a bearer token (RFC 6750 section 2.1, scheme in any case). API Gateway answers other
 * headers with 401 without calling the authorizer.
 */
export const tokenExpression = '^[Bb][Ee][Aa][Rr][Ee][Rr] +[-A-Za-z0-9._~+/]+=*$';
