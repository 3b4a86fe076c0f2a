/** Returns {auth_url} of the spec, without a last slash; also the issuer of tokens (RFC 8414). */
export function authUrl(): string {
  const url = process.env.AUTH_URL;
  if (!url) throw new Error('AUTH_URL is not set: set it to the base URL of the pages');
  return url;
}

/** Returns true if people and clients reach the service by HTTPS. */
export function isHttps(): boolean {
  return process.env.AUTH_URL?.startsWith('https:') ?? false;
}
