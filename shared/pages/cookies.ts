import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseCookie, stringifySetCookie } from 'cookie';
import { authUrl } from '../auth-url.ts';
import { headerOf } from '../http/request.ts';

/** The cookies of a request, by their whole names. */
export function cookiesOf(event: APIGatewayProxyEvent): Record<string, string | undefined> {
  return parseCookie(headerOf(event, 'cookie') ?? '');
}

/** A Set-Cookie header that no script reads and no foreign form sends along. `maxAge` is in seconds: 0 takes the cookie away. */
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

/** A cookie's whole name. The prefix makes browsers take it from this very host only, but needs HTTPS. */
export function cookieName(name: string): string {
  return isSecure() ? `__Host-${name}` : name;
}

function isSecure(): boolean {
  return authUrl().startsWith('https:');
}
