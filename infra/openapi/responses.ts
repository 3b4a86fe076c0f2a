import type * as v from 'valibot';
import type { Docs } from '../../shared/http/docs.ts';
import type { RequestSchema } from '../../shared/http/request.ts';
import type { Route } from '../../shared/routes.ts';

/** A route, and what its file under functions/ exports. */
export interface Endpoint {
  route: Route;
  request: RequestSchema;
  response: v.GenericSchema;
  docs: Docs<RequestSchema> & { fields?: Record<string, string> };
}

/** What every endpoint can answer, beside what it is for. */
const everywhere = ['too_many_requests', 'server_error', 'service_unavailable'];

interface Kind {
  status: number;
  /** When it happens, unless the endpoint says it better. */
  when: string;
  /** The words of an example. */
  example: string;
}

const kinds: Record<string, Kind> = {
  invalid_request: {
    status: 400,
    when: 'A parameter or field is missing or not valid; the description names it.',
    example: 'rating must be an integer from 1 to 5',
  },
  invalid_grant: {
    status: 400,
    when: 'The code or token is not good.',
    example: 'redirect_uri must be exactly the registered one',
  },
  invalid_scope: {
    status: 400,
    when: 'There is no such scope.',
    example: 'scope may hold review, vote and user',
  },
  unsupported_grant_type: {
    status: 400,
    when: 'There is no such grant type.',
    example: 'grant_type must be authorization_code or refresh_token',
  },
  not_authorized: {
    status: 401,
    when: 'There is no access token.',
    example: 'This request needs an access token',
  },
  invalid_token: {
    status: 401,
    when: 'The access token is missing, not good, or no longer.',
    example:
      'This request needs a valid access token in the header Authorization: Bearer <access token>',
  },
  invalid_client: {
    status: 401,
    when: 'The client is not known by these credentials.',
    example: 'The client is unknown or its secret is missing or wrong',
  },
  insufficient_scope: {
    status: 403,
    when: 'The access token lacks the scope.',
    example: 'This request needs an access token with the scope review',
  },
  access_denied: {
    status: 403,
    when: 'It is not the caller’s to do.',
    example: 'The review is by somebody else',
  },
  limit_exceeded: {
    status: 403,
    when: 'The limit of the day is reached.',
    example: 'The votes of today are used up',
  },
  not_found: { status: 404, when: 'There is no such thing.', example: 'Review not found' },
  gone: {
    status: 410,
    when: 'It is kept no longer.',
    example:
      'since is more than 30 days old, or of a table that was restored since: start again from a dump',
  },
  precondition_failed: {
    status: 412,
    when: 'It is no longer what `If-Match` says.',
    example: 'Review has changed: read it again, then try with its new ETag',
  },
  payload_too_large: {
    status: 413,
    when: 'The body is larger than this endpoint reads: 6 MB, a form 64 KB.',
    example: 'The request may have at most 6 MB',
  },
  unsupported_media_type: {
    status: 415,
    when: 'The body is not of the type, or not in UTF-8.',
    example: 'The body must be sent as Content-Type: application/json',
  },
  idempotency_mismatch: {
    status: 422,
    when: 'The `Idempotency-Key` came with another request in the last 24 hours.',
    example:
      'This Idempotency-Key came with another request in the last 24 hours: choose a new one',
  },
  too_many_requests: {
    status: 429,
    when: 'Too many requests came at once.',
    example: 'Too many requests: slow down, then try again',
  },
  server_error: {
    status: 500,
    when: 'The fault is ours.',
    example: 'The request could not be processed; please report the request_id',
  },
  service_unavailable: {
    status: 503,
    when: 'Busy: the same request may succeed later.',
    example: 'Busy: please try again in a moment',
  },
};

/** The codes of the errors of an endpoint, with when they happen. */
function errorsOf({ route, request, docs }: Endpoint): [string, string][] {
  const { caller, path, query, body, if_match, idempotency_key } = request.entries;
  const isOAuth = isOAuthForm({ route });
  const codes = [
    ...(query || body || if_match || idempotency_key ? ['invalid_request'] : []),
    ...(caller ? ['not_authorized', 'invalid_token'] : []),
    ...(caller && route.access !== 'token' ? ['insufficient_scope'] : []),
    ...(path ? ['not_found'] : []),
    ...(if_match ? ['precondition_failed'] : []),
    ...(body ? ['payload_too_large', 'unsupported_media_type'] : []),
    ...(idempotency_key ? ['idempotency_mismatch'] : []),
    ...Object.keys(docs.errors ?? {}),
    ...everywhere,
  ];
  const own: Record<string, string> = docs.errors ?? {};
  const all = [...new Set(codes)].filter((code) => !isOAuth || code !== 'not_found');
  return all.map((code) => [code, own[code] ?? kinds[code]?.when ?? '']);
}

/** Whether it answers in the words of RFC 6749. */
export function isOAuthForm({ route }: Pick<Endpoint, 'route'>): boolean {
  return route.path.startsWith('/oauth/');
}

const headersOf: Record<number, string[]> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const header = (name: string) => [name, { $ref: `#/components/headers/${name}` }] as const;

/** The headers of responses that mean something to clients. */
export const headers = {
  ETag: {
    description:
      'Names this state of what is answered: send it as `If-None-Match` to be told 304 while it is the same. That of a review can be sent as `If-Match`, too.',
    schema: { type: 'string' },
    example: '"1.kYbZAWGHq0z9Qc0nqXJMwA"',
  },
  Link: {
    description:
      'Leads on (RFC 8288), relative to the request: `next` to the next page, which the last page lacks, and `alternate` to the same reviews as an Atom feed.',
    schema: { type: 'string' },
    example: '<?limit=50&cursor=…>; rel="next"',
  },
  'Idempotent-Replayed': {
    description: '`true` where this is the answer to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'RateLimit-Policy': {
    description: 'How many first votes, or reports, there are in a day of UTC.',
    schema: { type: 'string' },
    example: '"votes";q=10;w=86400',
  },
  RateLimit: {
    description: 'How many of them are left, and in how many seconds there are new ones.',
    schema: { type: 'string' },
    example: '"votes";r=7;t=12600',
  },
  'Retry-After': {
    description: 'After how many seconds it is worth trying again.',
    schema: { type: 'integer' },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the credentials (RFC 6750 section 3).',
    schema: { type: 'string' },
    example: 'Bearer realm="review", error="invalid_token"',
  },
};

/** The responses of an endpoint other than success, by status. Each example goes by the code of its error. */
export function failuresOf(endpoint: Endpoint): Record<string, unknown> {
  const byStatus = Map.groupBy(errorsOf(endpoint), ([code]) => kinds[code]?.status ?? 0);
  const responses = [...byStatus].map(([status, errors]) => {
    // API Gateway refuses in the same words wherever it is.
    const isOAuth = isOAuthForm(endpoint) && status !== 429;
    const isLimit = errors.some(([code]) => code === 'limit_exceeded');
    const names = [
      ...(headersOf[status] ?? []),
      ...(isLimit ? ['Retry-After', ...(endpoint.docs.headers ?? [])] : []),
    ];
    return [
      status,
      {
        description: errors.map(([code, when]) => `\`${code}\`: ${when}`).join('\n\n'),
        ...(names.length > 0 && { headers: Object.fromEntries(names.map(header)) }),
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${isOAuth ? 'OAuthError' : 'Error'}` },
            examples: Object.fromEntries(
              errors.map(([code]) => [
                code,
                {
                  value: {
                    error: code,
                    [isOAuth ? 'error_description' : 'description']: kinds[code]?.example,
                    ...(status >= 500 && { request_id: '6f1e0a52-7b0c-4f43-9d2c-0a2d4f5e6b7c' }),
                  },
                },
              ]),
            ),
          },
        },
      },
    ];
  });
  return Object.fromEntries(responses);
}
