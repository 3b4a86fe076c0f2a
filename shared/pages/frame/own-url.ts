// Addresses of our own pages.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { authUrl } from '../../base/auth-url.ts';
import { matchRoute } from '../../core/http/match-route.ts';

/** The URL of a page of ours. Any other address, which anybody can send, becomes the account. */
export function ownUrl(return_to = ''): string {
  const home = new URL(`${authUrl()}/account`).href;
  const target = URL.parse(return_to, home);
  const url = target && target.origin + target.pathname + target.search;
  return url?.startsWith(new URL('.', home).href) ? url : home;
}

/** Address of a page. That of a form becomes its page: the nearest path above that accepts GET. */
export function addressOf(event: APIGatewayProxyEvent, query = queryOf(event)): string {
  const requested = requestedPath(event);
  let path = requested;
  while (path !== '' && !matchRoute('GET', path)) {
    path = path.slice(0, path.lastIndexOf('/'));
  }
  const url = `${authUrl()}${path || '/account'}`;
  return path === requested && query ? `${url}?${query}` : url;
}

/** The requested path below {auth_url}. */
export function requestedPath({ resource, pathParameters }: APIGatewayProxyEvent): string {
  return resource.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(pathParameters?.[name] ?? ''),
  );
}

/** The query of a request, as a client would write it. */
export function queryOf({ multiValueQueryStringParameters }: APIGatewayProxyEvent): string {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(
    ([name, values = []]) => values.map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs).toString();
}

/** An address with a query; undefined parameters are left out. */
export function withQuery(url: string, query: Record<string, string | number | undefined>): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
  if (parameters.length === 0) return url;
  return `${url}?${new URLSearchParams(parameters as [string, string][])}`;
}
