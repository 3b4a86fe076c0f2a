/** Routes by what they are for, for tests of what holds for each of them. */
import { type Route, routes } from '../../shared/base/routes.ts';

/** Returns a route by its operation, which is there. */
export function routeOf(operation: string): Route {
  const route = routes.find((each) => each.operation === operation);
  if (!route) throw new Error(`${operation} is no operation`);
  return route;
}

const reads = routes.filter(({ method, table }) => method === 'GET' && table !== 'none');

/** GETs of what anybody may read. */
export const publicReads = reads.filter(({ table }) => table === 'public');

/** Those that programs and frames ask for, and the page of a secret link, which greets nobody. */
const unvisited = [
  'get-sitemap',
  'get-oembed',
  'show-entity-embed',
  'show-mail-stop',
  'show-move-undo',
];

/** Public pages, which greet people who are signed in. */
export const visitedPages = publicReads.filter(
  ({ isPage, operation }) => isPage && !unvisited.includes(operation),
);

/** GETs of somebody signed in, without two steps of a sign-in and one that only leads elsewhere. */
export const ownReads = reads.filter(
  ({ table, operation }) =>
    table !== 'public' &&
    !/^(request-authorization|finish-sign-in|show-proposals)$/.test(operation),
);
