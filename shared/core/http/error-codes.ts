/** Codes of the errors of the OAuth endpoints. The first five are of RFC 6749 section 5.2. */
export const oauthErrorCodes = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'unsupported_grant_type',
  'payload_too_large',
  'unsupported_media_type',
  'too_many_requests',
  'server_error',
  'service_unavailable',
] as const;

/** Codes of the errors of all endpoints except OAuth. More may be added. */
export const errorCodes = [
  'invalid_request',
  'not_authorized',
  'invalid_token',
  'insufficient_scope',
  'access_denied',
  'limit_exceeded',
  'not_found',
  'method_not_allowed',
  'gone',
  'precondition_failed',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_mismatch',
  'too_many_requests',
  'server_error',
  'not_implemented',
  'service_unavailable',
] as const;
