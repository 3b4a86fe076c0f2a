// Kinds of routes by their load, for the limits that both hosts set.
import { mostAnswerBytes } from '../shared/base/answer-size.ts';
import type { Route } from '../shared/base/routes.ts';
import type { Budget } from '../shared/base/table/budget.ts';
import { mostLookedUpBytes } from '../shared/core/review/page-size.ts';

/**
 * Returns true if the route signs people in or issues tokens. It needs no token itself and may wait
 * for the identity provider.
 */
export function isSignIn(route: Route): boolean {
  const { path } = route;
  return path.startsWith('/oauth/') || isStepOfSignIn(route);
}

/** Returns true for the steps of a sign-in on pages, which each person takes once. */
export function isStepOfSignIn({ path }: Route): boolean {
  return path === '/account/sign-in' || path === '/account/callback';
}

/** Returns true for the OpenAPI document, which has 200 KB. */
export function isLarge({ path }: Route): boolean {
  return path === '/openapi.json';
}

/** Returns true for the guides and the reference: pages of some ten kilobytes. */
export function isGuide({ path }: Route): boolean {
  return /^\/docs(\/|$)/.test(path);
}

/** Returns true for the export of all own data, in parts of up to 6 MB. */
export function isExport({ path }: Route): boolean {
  return path === '/user/me/export' || path === '/account/data';
}

const megabyte = 1024 * 1024;

/** Bytes of a lookup's answer beside its reviews: the ids as sent, and those that they mean. */
const idsOfLookup = 16 * 1024;

/**
 * Budgets of requests, for what they use of the table. A public read stays within its budget
 * whatever others have stored. A read unit brings up to 8 KB, and a byte of a text up to six in
 * JSON, so bytes bound memory only. Signed-in people read their own things, as many as they have
 * made. A write reads and tries again for some seconds while others write the same. An export reads
 * long texts, 6 units each, or many small things. A lookup has room for all its reviews.
 */
const publicBudget = { read: 200, commands: 60, bytes: 10 * megabyte, answer: mostAnswerBytes };
const budgets = {
  public: publicBudget,
  lookup: { ...publicBudget, answer: mostLookedUpBytes + idsOfLookup },
  own: { read: 400, commands: 120, bytes: 20 * megabyte, answer: 6 * megabyte },
  write: { read: 600, commands: 400, bytes: 30 * megabyte, answer: 6 * megabyte },
  export: { read: 10_000, commands: 2_000, bytes: 32 * megabyte, answer: 6 * megabyte },
} as const satisfies Record<string, Budget>;

/** Returns what one request to a route may use of the table, or undefined if it may use nothing. */
export function budgetOf(route: Route): Budget | undefined {
  const { table } = route;
  if (table === 'none') return undefined;
  if (isExport(route)) return budgets.export;
  if (route.operation === 'batch-get-reviews') return budgets.lookup;
  if (table === 'write') return budgets.write;
  return table === 'read' ? budgets.own : budgets.public;
}
