/** Returns {auth_url} of the spec, without a last slash; also the issuer of tokens (RFC 8414). */
export function authUrl(): string {
  const url = process.env.AUTH_URL;
  if (!url) throw new Error('AUTH_URL is not set: set it to the base URL of the pages');
  return url;
}
