import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { isLarge, isSignIn } from '../../shared/http/route-load.ts';
import type { Route } from '../../shared/routes.ts';
import { type Client, largestShare, networksOf } from './client-networks.ts';
import { GatewayError } from './gateway-response.ts';

/** In seconds. A client may send all requests of a period at once. */
const period = 10;
/** A sign-in, a token or a large answer counts as this many requests. */
const dearly = 5;

/**
 * Makes a function that counts the requests of each client address, and throws GatewayError 429
 * for more than `perSecond` on average over 10 seconds. 0 is no limit. Wider networks of IPv6
 * clients have limits as well, a few times as high.
 */
export function limitClients(perSecond: number) {
  // Each share divides a request's points, because the library counts whole points.
  const points = period * perSecond * largestShare;
  const limiter = new RateLimiterMemory({ points, duration: period });
  return async ({ client, isInside }: Client, route: Route | undefined): Promise<void> => {
    if (perSecond === 0 || isInside) return;
    const isDear = route !== undefined && (isSignIn(route) || isLarge(route));
    try {
      // The narrowest first, whose refused requests do not count for its neighbours.
      for (const { name, share } of networksOf(client)) {
        await limiter.consume(name, ((isDear ? dearly : 1) * largestShare) / share);
      }
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new GatewayError('THROTTLED', { retryAfter });
    }
  };
}
