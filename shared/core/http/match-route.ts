import { type Route, routes, version } from '../../base/routes.ts';

export interface Match {
  route: Route;
  params: Record<string, string>;
}

/**
 * Finds the route for a path below the stage, such as `/1/review/`. Ignores trailing and doubled
 * slashes, as API Gateway does. HEAD uses a public route of GET (RFC 9110 section 9.3.2).
 */
export function matchRoute(method: string, path: string): Match | undefined {
  const servedMethod = method === 'HEAD' ? 'GET' : method;
  const match = matches(path).find(({ route }) => route.method === servedMethod);
  return match && methodsOf(match.route).includes(method) ? match : undefined;
}

/** Returns the methods that a route serves: a public GET also serves HEAD. */
export function methodsOf({ method, access }: Route): string[] {
  return method === 'GET' && access === 'public' ? ['GET', 'HEAD'] : [method];
}

/** Returns the methods that `path` supports, none if it does not exist. */
export function allowedMethods(path: string): string[] {
  const methods = matches(path).flatMap(({ route }) => methodsOf(route));
  return [...new Set(methods)].filter((method) => matchRoute(method, path));
}

/** Returns the path of a route below the stage: `/1/review/{review_id}`. */
export function resourceOf({ base = version, path }: Pick<Route, 'base' | 'path'>): string {
  return base + path;
}

/** All routes, whose paths are split once. */
const templates = /* @__PURE__ */ routes.map((route) => {
  return { route, template: segments(resourceOf(route)) };
});

/** Finds the routes of a path, of the first resource that it matches: fixed paths come first. */
function matches(path: string): Match[] {
  const requested = segments(path);
  const all = templates.flatMap(({ route, template }) => {
    const params = matchSegments(template, requested);
    return params ? [{ route, params }] : [];
  });
  return all.filter(({ route }) => all[0] && resourceOf(route) === resourceOf(all[0].route));
}

function matchSegments(template: readonly string[], requested: readonly string[]) {
  if (template.length !== requested.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of template.entries()) {
    const value = requested[i] ?? '';
    if (segment.startsWith('{')) {
      params[segment.slice(1, -1)] = value;
    } else if (segment !== value) {
      return undefined;
    }
  }
  return params;
}

function segments(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}
