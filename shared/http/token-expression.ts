/**
 * Pattern of a bearer token (RFC 6750 section 2.1, scheme in any case). API Gateway answers other
 * headers with 401 without calling the authorizer.
 */
export const tokenExpression = '^[Bb][Ee][Aa][Rr][Ee][Rr] +[-A-Za-z0-9._~+/]+=*$';
