import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseCookie, stringifySetCookie } from 'cookie';
import { authUrl } from '../auth-url.ts';
import { headerOf } from '../http/request.ts';

/** The cookies of a request by full name. */
export function cookiesOf(event: APIGatewayProxyEvent): Record<string, string | undefined> {
  return parseCookie(headerOf(event, 'cookie') ?? '');
}

/**
 * Returns a Set-Cookie header for a cookie that scripts cannot read and forms on other sites do not
 * send. `maxAge` is in seconds; 0 deletes the cookie.
 */
export function setCookie(name: string, value: string, maxAge: number): string {
  return stringifySetCookie({
    name: cookieName(name),
    value,
    maxAge,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(),
  });
}

/**
 * Returns the full name of a cookie. The prefix restricts the cookie to this exact host, but needs
 * HTTPS.
 */
export function cookieName(name: string): string {
  return isSecure() ? `__Host-${name}` : name;
}

function isSecure(): boolean {
  return authUrl().startsWith('https:');
}
