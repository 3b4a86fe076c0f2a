import type { Route, Secret } from '../../shared/base/routes.ts';

/** A Lambda of the API, and the routes that it serves. */
interface FunctionGroup {
  /** The operation of its only route, or of all its pages: `pages-write-votes`. */
  name: string;
  routes: readonly Route[];
}

/**
 * Returns the Lambdas of routes. An endpoint of the API has one of its own, and so has each page
 * that authorizes applications. Other pages share one with all that have the same rights.
 */
export function functionGroups(routes: readonly Route[]): FunctionGroup[] {
  const groups = Map.groupBy(routes, groupOf);
  return [...groups].map(([name, own]) => ({ name, routes: own }));
}

/** Returns the name of the Lambda of a route. */
export function groupOf(route: Route): string {
  const { operation, isPage = false, path, table, within, asks, secrets = [] } = route;
  if (!isPage || path === '/oauth/authorize') return operation;
  const rights = [table, within, asks && 'asks'];
  const names = [...rights, ...secrets.map((name) => secretNames[name])];
  return ['pages', ...names.filter((name) => name !== undefined), ...unsigned(secrets)].join('-');
}

/** Names of secrets in those of Lambdas. Most pages have the session alone, which is left out. */
const secretNames: Readonly<Record<Secret, string | undefined>> = {
  SESSION_KEYS: undefined,
  SIGNING_KEYS: 'tokens',
  WEBHOOK_KEYS: 'webhooks',
  OIDC_CLIENT_SECRET: 'sign-in',
};

const unsigned = (secrets: readonly Secret[]) => (secrets.includes('SESSION_KEYS') ? [] : ['open']);
