import { groupOf } from '../../infra/aws/function-groups.ts';
import { type Route, routes } from '../../shared/base/routes.ts';

// The share of requests that find no function running, computed. Requests come at random, and go to
// routes by Zipf's law, in many random orders, because nobody knows which route is asked for most.

/** In seconds, for which Lambda keeps an idle environment: 5 to 10 minutes. */
const idleLives = [300, 600];

/** Orders of the routes that are tried. */
const orders = 200;

/** Ways of deployment: the function of a route, and the number of the busiest that stay warm. */
export const deployments = {
  'a function for each route': { nameOf: ({ operation }: Route) => operation, warm: 0 },
  'shared pages': { nameOf: groupOf, warm: 0 },
  'shared pages, 16 warm': { nameOf: groupOf, warm: 16 },
} as const;

/** Returns the shares in per cent, for the longer and the shorter life. */
export function coldShares(
  requestsADay: number,
  { nameOf, warm }: { nameOf: (route: Route) => string; warm: number },
): number[] {
  return idleLives
    .toSorted((a, b) => b - a)
    .map((life) => {
      const shares = Array.from({ length: orders }, (_, seed) => {
        const weights = weightsOf(shuffled(routes, seed + 1), nameOf).toSorted((a, b) => b - a);
        const cold = weights
          .slice(warm)
          .map((weight) => weight * Math.exp((-requestsADay * weight * life) / 86_400));
        return cold.reduce((sum, each) => sum + each, 0);
      });
      return Math.round((100 * shares.reduce((sum, each) => sum + each, 0)) / orders);
    });
}

/** Returns the shares of all requests that functions get. */
function weightsOf(ordered: readonly Route[], nameOf: (route: Route) => string): number[] {
  const whole = ordered.reduce((sum, _, i) => sum + 1 / (i + 1), 0);
  const weights = new Map<string, number>();
  for (const [i, route] of ordered.entries()) {
    const name = nameOf(route);
    weights.set(name, (weights.get(name) ?? 0) + 1 / (i + 1) / whole);
  }
  return [...weights.values()];
}

/** Shuffles by a linear congruential generator, so that each run gives the same. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  let state = seed * 7919;
  const keyed = all.map((one) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return { one, key: state };
  });
  return keyed.toSorted((a, b) => a.key - b.key).map(({ one }) => one);
}
