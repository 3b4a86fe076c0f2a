import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { isInRanges, loopbackRanges, parseRanges } from '../../../shared/base/ip-ranges.ts';
import { stage } from '../../../shared/base/routes.ts';
import { isLoopback } from '../../../shared/base/values.ts';

export interface PublicAddress {
  /** For example `https://example.org/reviews`. */
  url: URL;
  /** The path of the URL: `/reviews`, or empty. */
  path: string;
  /** The proxies whose X-Forwarded headers are trusted. */
  proxies: BlockList;
}

/**
 * Reads PUBLIC_URL and TRUSTED_PROXIES: IP addresses and ranges, separated by commas or spaces.
 * Addresses of this machine are always trusted. Throws a sentence for the operator.
 */
export function readPublicAddress(publicUrl: string, trustedProxies = ''): PublicAddress {
  const url = URL.parse(publicUrl);
  const isPlain = /^https?:\/\/[^\s/?#@\\]+(\/[\w.~-]+)*\/?$/i.test(publicUrl);
  if (!url || !isPlain) {
    throw new Error(
      `PUBLIC_URL ${publicUrl} is not the address of a service: set it to a URL such as https://reviews.example.org or https://example.org/reviews`,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url)) {
    throw new Error(
      `PUBLIC_URL ${publicUrl} must begin with https://: sign-in does not work over HTTP`,
    );
  }
  const path = url.pathname.replace(/\/$/, '');
  if (path.split('/').includes(stage)) {
    throw new Error(`PUBLIC_URL ${publicUrl} must not contain /${stage}: the service adds it`);
  }
  return { url, path, proxies: readProxies(trustedProxies) };
}

function readProxies(trustedProxies: string) {
  return parseRanges('TRUSTED_PROXIES', `${loopbackRanges} ${trustedProxies}`);
}

/**
 * Returns the URL of a request below the origin and path of PUBLIC_URL. The proxy may keep or
 * remove that path. A request in absolute form loses its origin (RFC 9112 section 3.2.2).
 */
export function localUrl(requested = '/', path = ''): string {
  const target = requested.replace(/^https?:\/\/[^/?]*/, '');
  const below = target.startsWith(path) ? target.slice(path.length) : target;
  if (below.startsWith('/')) return below;
  return below === '' || below.startsWith('?') ? `/${below}` : target;
}

/** Addresses of this machine. */
const loopback = readProxies('');

/**
 * Returns origin and client of a request, as API Gateway reports them. X-Forwarded headers count
 * only behind a public address, and only from a trusted proxy. `forwardedFor` is X-Forwarded-For.
 * The client `isInside` if it is this machine or a trusted proxy.
 */
export function arrivalOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  address?: PublicAddress,
) {
  const { remoteAddress: peer, localPort } = socket;
  const forwarded = [headers['x-forwarded-for'] ?? []].flat();
  if (!address) {
    const client = peer ?? '127.0.0.1';
    return {
      protocol: 'http',
      hostname: (headers.host ?? 'localhost').replace(/:\d+$/, ''),
      port: `${localPort}`,
      client,
      isInside: isTrusted(client, loopback),
      forwardedFor: [...forwarded, client].join(', '),
    };
  }
  const { url, proxies } = address;
  const isProxy = isTrusted(peer, proxies);
  const hops = [...(isProxy ? listOf(forwarded.join()) : []), peer ?? ''];
  const outside = hops.findLast((each) => !isTrusted(each, proxies));
  // A proxy that passes the header on appends its own value.
  const protocol = isProxy && listOf(`${headers['x-forwarded-proto'] ?? ''}`).at(-1);
  return {
    protocol: protocol === 'https' ? 'https' : 'http',
    hostname: url.hostname,
    port: url.port || (url.protocol === 'https:' ? '443' : '80'),
    client: outside ?? hops[0] ?? '',
    isInside: outside === undefined,
    forwardedFor: hops.join(', '),
  };
}

function isTrusted(address: string | undefined, proxies: BlockList) {
  // A link-local address ends in its interface, as in fe80::1%eth0.
  const plain = (address ?? '').replace(/%.*/, '');
  return isInRanges(proxies, plain);
}

function listOf(header: string) {
  const values = header.toLowerCase().split(',');
  return values.map((value) => value.trim()).filter(Boolean);
}
