import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Route } from '../../../shared/base/routes.ts';
import { isExport, isLarge, isSignIn, isStepOfSignIn } from '../../route-load.ts';
import { type Client, largestShare, networksOf } from './client-networks.ts';
import { GatewayError } from './gateway-response.ts';

/** In seconds. A client may send all requests of a period at once. */
const period = 10;
/**
 * Points of a request, of which a client has `period` times the limit. A client beyond the limit
 * waits, and so do others who share the address.
 */
const points = {
  usual: 1,
  /** A write, for which consumers of the stream work too. */
  write: 3,
  /** A consent, a token, a sign-in that begins, or a large answer of up to 1.7 MB. */
  dear: 5,
  /** An own export: 4 MB and 0.14 s of CPU, as much as seven lists, of which none is kept. */
  export: 20,
};

/**
 * Makes a function that counts the requests of each client address, and throws GatewayError 429
 * for more than `perSecond` on average over 10 seconds. 0 is no limit. Wider networks of IPv6
 * clients have limits as well, a few times as high.
 */
export function limitClients(perSecond: number) {
  // Each share divides a request's points, because the library counts whole points.
  const limiter = new RateLimiterMemory({
    points: period * perSecond * largestShare,
    duration: period,
  });
  return async (
    { client, isInside }: Client,
    route: Route | undefined,
    isDear = false,
  ): Promise<void> => {
    if (perSecond === 0 || isInside) return;
    const cost = route ? costOf(route) : points[isDear ? 'dear' : 'usual'];
    try {
      // The narrowest first, whose refused requests do not count for its neighbours.
      for (const { name, share } of networksOf(client)) {
        await limiter.consume(name, (cost * largestShare) / share);
      }
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new GatewayError('THROTTLED', { retryAfter });
    }
  };
}

/**
 * Returns the points of a request. The steps of a sign-in count once each, and so does a new
 * person's choice of a name, which has a daily limit. With the pages around them they are six
 * requests, so 30 people behind one address need 180 of the usual 200. At the provider of a server,
 * the first step costs five and the others one each: about ten for a person.
 */
function costOf(route: Route): number {
  const { method, table, operation } = route;
  if (isExport(route)) return points.export;
  const isDear = (isSignIn(route) && !isStepOfSignIn(route)) || isLarge(route);
  if (isDear) return points.dear;
  const isWrite = method !== 'GET' && table === 'write' && operation !== 'update-account';
  return isWrite ? points.write : points.usual;
}
