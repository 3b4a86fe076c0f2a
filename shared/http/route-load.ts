// Kinds of routes by their load, for the limits that both hosts set.
import type { Route } from '../routes.ts';

/**
 * Returns true if the route signs people in or issues tokens. It needs no token itself and may wait
 * for the identity provider.
 */
export function isSignIn({ path }: Route): boolean {
  return path.startsWith('/oauth/') || path === '/account/sign-in' || path === '/account/callback';
}

/** Returns true for the reference with its files and the OpenAPI document, up to 1.7 MB each. */
export function isLarge({ path }: Route): boolean {
  return path === '/openapi.json' || /^\/docs\/api(\/|$)/.test(path);
}

/** Returns true for the guides: pages of some ten kilobytes, the same for everybody. */
export function isGuide(route: Route): boolean {
  return /^\/docs(\/|$)/.test(route.path) && !isLarge(route);
}
