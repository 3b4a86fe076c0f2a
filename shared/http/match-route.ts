import { type Route, routes, version } from '../routes.ts';

/** A route and the values of its path parameters, as sent. */
export interface Match {
  route: Route;
  params: Record<string, string>;
}

/**
 * The route that serves `method` on `path`, a path below the stage such as `/1/review/`. A trailing or doubled slash makes no difference, as
 * in API Gateway. HEAD goes where GET does (RFC 9110 section 9.3.2), as long as anybody may.
 */
export function matchRoute(method: string, path: string): Match | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  const found = matches(path).find(({ route }) => route.method === asked);
  return found && methodsOf(found.route).includes(method) ? found : undefined;
}

/** The methods by which a route is called. */
export function methodsOf({ method, access }: Route): string[] {
  return method === 'GET' && access === 'public' ? ['GET', 'HEAD'] : [method];
}

/** The methods that `path` takes. None if there is no such path. */
export function allowedMethods(path: string): string[] {
  const methods = matches(path).flatMap(({ route }) => methodsOf(route));
  return [...new Set(methods)].filter((method) => matchRoute(method, path));
}

/** The full resource path of a route, below the stage: `/1/review/{review_id}`. */
export function resourceOf({ base = version, path }: Pick<Route, 'base' | 'path'>): string {
  return base + path;
}

function matches(path: string): Match[] {
  const sent = segments(path);
  return routes.flatMap((route) => {
    const params = matchSegments(segments(resourceOf(route)), sent);
    return params ? [{ route, params }] : [];
  });
}

function matchSegments(
  template: readonly string[],
  sent: readonly string[],
): Record<string, string> | undefined {
  if (template.length !== sent.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of template.entries()) {
    const value = sent[i] ?? '';
    if (segment.startsWith('{')) params[segment.slice(1, -1)] = value;
    else if (segment !== value) return undefined;
  }
  return params;
}

function segments(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}
