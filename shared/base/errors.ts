/** An error response. Throw it anywhere; http/response.ts answers it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    // Most are made in advance, for a condition that may fail, and none is logged. Capturing stacks
    // would cost 5 % of a write's CPU.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** 400. The message names the parameter and says what it must be. */
export function invalidRequest(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message);
}

/** 400: the authorization code or refresh token is invalid or expired (RFC 6749 section 5.2). */
export function invalidGrant(message: string): ApiError {
  return new ApiError(400, 'invalid_grant', message);
}

/** 400: the scope does not exist or was not granted (RFC 6749 section 5.2). */
export function invalidScope(message: string): ApiError {
  return new ApiError(400, 'invalid_scope', message);
}

/** 401: no access token. API Gateway refuses such requests first. */
export function notAuthorized(): ApiError {
  return new ApiError(401, 'not_authorized', 'This request needs an access token', {
    'WWW-Authenticate': 'Bearer realm="review"',
  });
}

/** 401: the account that the token acts for was deleted. */
export function invalidToken(): ApiError {
  return new ApiError(401, 'invalid_token', 'The access token is no longer valid', {
    'WWW-Authenticate': 'Bearer realm="review", error="invalid_token"',
  });
}

/** 403: the caller may not do this. */
export function accessDenied(message: string): ApiError {
  return new ApiError(403, 'access_denied', message);
}

/** 403: the daily limit of votes or reports is reached. The headers say when it resets. */
export function limitExceeded(message: string, headers: Record<string, string>): ApiError {
  return new ApiError(403, 'limit_exceeded', message, headers);
}

/** 404: `what` does not exist, or this caller may not see it. */
export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} not found`);
}

/** 405: the path exists, but does not support the method. */
export function methodNotAllowed(allowed: readonly string[]): ApiError {
  const methods = allowed.join(', ');
  return new ApiError(405, 'method_not_allowed', `This path takes ${methods}`, { Allow: methods });
}

/** 410: the changes after a cursor are no longer available. */
export function cursorGone(): ApiError {
  return new ApiError(
    410,
    'gone',
    'since is more than 30 days old, or from before a restore: delete your copy, and start again',
  );
}

/** 412: the resource has changed since the client read it (RFC 9110 section 13.1.1). */
export function preconditionFailed(what: string): ApiError {
  return new ApiError(
    412,
    'precondition_failed',
    `${what} has changed: read it again, then try with its new ETag`,
  );
}

/** 413: the body is too large for this endpoint. */
export function payloadTooLarge(message: string): ApiError {
  return new ApiError(413, 'payload_too_large', message);
}

/** 415: the body has a type that this endpoint does not read. */
export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', message);
}

/** 422: the key was used for another request (draft-ietf-httpapi-idempotency-key-header). */
export function idempotencyMismatch(): ApiError {
  return new ApiError(
    422,
    'idempotency_mismatch',
    'This Idempotency-Key came with another request in the last 24 hours: choose a new one',
  );
}

/** 429: others kept changing the same items. Nothing was written, so anybody may repeat it. */
export function contended(): ApiError {
  return new ApiError(
    429,
    'too_many_requests',
    'Other requests are changing the same thing right now: please try again in a moment',
    { 'Retry-After': '1' },
  );
}

/** 501: the answer is not given in this format (oEmbed section 2.3.2). */
export function notImplemented(message: string): ApiError {
  return new ApiError(501, 'not_implemented', message);
}

/** 503, as the specification says, for a query string that is too long. It can never succeed. */
export function queryTooLong(message: string): ApiError {
  return new ApiError(503, 'service_unavailable', message);
}

/** 503: nothing can be stored. A minute is the time between two writes that the service tries. */
export function diskFull(): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    'The disk of this service is full, so nothing can be saved until its operator makes room',
    { 'Retry-After': '60' },
  );
}

/** Thrown where the table is throttled or does not answer. It becomes 503, and alarms count it. */
export class TableBusy extends Error {
  override readonly name = 'TableBusy';
}

/** 503: the same request may succeed later. */
export function serviceUnavailable(message = 'Busy: please try again in a moment'): ApiError {
  return new ApiError(503, 'service_unavailable', message, { 'Retry-After': '1' });
}
