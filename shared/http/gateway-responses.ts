import { commonHeaders } from './response.ts';

/** A response of API Gateway itself, made without a Lambda. */
export interface GatewayResponse {
  type: string;
  /** If unset, API Gateway's own status. The two defaults cover several. */
  status?: number;
  /** Values in API Gateway's mapping syntax: a literal in single quotes, or `context.…`. */
  headers: Record<string, string>;
  /** A JSON template. `$context.…` is inserted unescaped: name only values that need no escape. */
  body: string;
}

function response(
  type: string,
  status: number | undefined,
  error: string,
  description: string,
  headers: Record<string, string> = {},
): GatewayResponse {
  const literals = Object.entries({ ...commonHeaders, 'Cache-Control': 'no-store' });
  const fixed = Object.fromEntries(literals.map(([name, value]) => [name, `'${value}'`]));
  return {
    type,
    status,
    // API Gateway does not add the headers of a default to a customised type, so each type carries
    // all.
    headers: { ...fixed, ...headers },
    body: JSON.stringify({
      error,
      description,
      ...(status === undefined || status < 500 ? {} : { request_id: '$context.requestId' }),
    }),
  };
}

const busy = 'Too many requests: slow down, then try again';
const later = 'Please try again in a moment';
const broken = 'The request could not be processed; please report the request_id';

/**
 * Responses that clients can meet, in the API's error format. API Gateway cannot tell a missing
 * token from an invalid one, so both get the header for an invalid one (RFC 6750 section 3.1). The
 * authorizer supplies the header that names the missing scope.
 */
export const gatewayResponses: readonly GatewayResponse[] = [
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
  response('REQUEST_TOO_LARGE', 413, 'payload_too_large', 'The request may have at most 6 MB'),
  response('UNSUPPORTED_MEDIA_TYPE', 415, 'unsupported_media_type', 'Send JSON'),
  response('THROTTLED', 429, 'too_many_requests', busy, { 'Retry-After': `'1'` }),
  response('QUOTA_EXCEEDED', 429, 'too_many_requests', busy, { 'Retry-After': `'60'` }),
  response('API_CONFIGURATION_ERROR', 500, 'server_error', broken),
  response('AUTHORIZER_CONFIGURATION_ERROR', 500, 'server_error', broken),
  // Without the database the authorizer fails. Nothing has changed, so the same request may succeed
  // later.
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
