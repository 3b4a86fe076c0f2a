/** {auth_url} of the spec: where the pages are, without a slash at the end. It is also the issuer of our tokens (RFC 8414). */
export function authUrl(): string {
  const url = process.env.AUTH_URL;
  if (!url) throw new Error('AUTH_URL is not set');
  return url;
}
