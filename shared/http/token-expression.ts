/**
 * What API Gateway takes for a bearer token (RFC 6750 section 2.1, any case of the scheme). A header that does not match is
 * answered 401 without asking the authorizer.
 */
export const tokenExpression = '^[Bb][Ee][Aa][Rr][Ee][Rr] +[-A-Za-z0-9._~+/]+=*$';
