import type { Route } from '../../shared/base/routes.ts';
import { methodsOf, resourceOf } from '../../shared/core/http/match-route.ts';
import { isSignIn } from '../route-load.ts';

// What people do with the service, by its routes. An alarm rings where one of these things fails.

/** Activities of people and their programs. Webhooks are received without a route. */
export const activities = ['sign-in', 'get-token', 'publish', 'vote', 'read'] as const;
export type Activity = (typeof activities)[number];

/** Returns what somebody does who asks for a route. A form is a part of what it is for. */
export function activityOf(route: Route): Activity | undefined {
  const { path, method, access, base } = route;
  if (isHealth(route)) return undefined;
  if (isSignIn(route)) return base === undefined ? 'get-token' : 'sign-in';
  if (access === 'vote' || /\/(vote|report)$/.test(path)) return 'vote';
  const isForm = base === '' && /^\/review\/(new|[^/]+\/(edit|delete))$/.test(path);
  if (access === 'review' || isForm) return 'publish';
  return method === 'GET' ? 'read' : undefined;
}

/** Its 503 is a true answer about the service, and no failure to answer. */
export const isHealth = ({ operation }: Route) => operation === 'get-health';

/** Of the 1,024 characters of a pattern, beside those of a failure. */
const longestCondition = 800;

/**
 * Returns conditions of metric filters on the access log for the requests of an activity. Each
 * request meets one of them at most. Reading is everything that is read and is not a part of
 * something else. Throws if too many things are.
 */
export function requestsOf(activity: Activity, routes: readonly Route[]): string[] {
  if (activity === 'read') {
    const reads = routes.filter(({ method }) => method === 'GET');
    const others = reads.filter((route) => activityOf(route) !== 'read');
    const but = namesOf(others, reads).map((name) => ` && $.route != "${name}"`);
    const condition = `($.method = "GET" || $.method = "HEAD")${but.join('')}`;
    if (condition.length > longestCondition) throw new Error('Too many routes are no reading');
    return [condition];
  }
  const own = routes.filter((route) => activityOf(route) === activity);
  const parts: string[] = [];
  for (const name of namesOf(own, routes)) {
    const last = parts.at(-1);
    const one = `$.route = "${name}"`;
    if (last && last.length + one.length < longestCondition) parts.push(`${parts.pop()} || ${one}`);
    else parts.push(one);
  }
  return parts.map((names) => `$.method != "OPTIONS" && (${names})`);
}

/** Returns routes as the access log names them, with a star for all methods of a path. */
function namesOf(some: readonly Route[], all: readonly Route[]): string[] {
  const names = some.flatMap((route) => {
    const path = resourceOf(route);
    const isWhole = all.every((each) => resourceOf(each) !== path || some.includes(each));
    return isWhole ? [`* ${path}`] : methodsOf(route).map((method) => `${method} ${path}`);
  });
  return [...new Set(names)];
}
