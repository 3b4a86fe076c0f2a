import { isIP } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { isLarge, isSignIn } from '../../shared/http/route-load.ts';
import type { Route } from '../../shared/routes.ts';
import { GatewayError } from './gateway-response.ts';

/** In seconds. A client may send all requests of a period at once. */
const period = 10;
/** A sign-in, a token or a large answer counts as this many requests. */
const dearly = 5;

/** The client of a request, see `arrivalOf`. */
interface Client {
  client: string;
  isInside: boolean;
}

/**
 * Makes a function that counts the requests of each client address, and throws GatewayError 429
 * for more than `perSecond` on average over 10 seconds. 0 is no limit. This machine and trusted
 * proxies have none, because several clients may be behind them.
 */
export function limitClients(perSecond: number) {
  const limiter = new RateLimiterMemory({ points: period * perSecond, duration: period });
  return async ({ client, isInside }: Client, route: Route | undefined): Promise<void> => {
    if (perSecond === 0 || isInside) return;
    const isDear = route !== undefined && (isSignIn(route) || isLarge(route));
    try {
      await limiter.consume(networkOf(client), isDear ? dearly : 1);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new GatewayError('THROTTLED', { retryAfter });
    }
  };
}

/** Returns an IPv4 address, or the 64 bits of an IPv6 address that name the client's network. */
export function networkOf(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined || isIP(plain) !== 6) return mapped ?? plain;
  const [head = '', tail] = plain.split('::').map((half) => half.split(':').filter(Boolean));
  // Two colons stand for as many zeros as are missing of eight groups.
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array(zeros).fill('0'), ...(tail ?? [])];
  return groups.slice(0, 4).join(':');
}
