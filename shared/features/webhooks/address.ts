import { type BlockList, isIP } from 'node:net';
import * as v from 'valibot';
import { isInRanges, parseRanges } from '../../base/ip-ranges.ts';
import { parseWebUrl } from '../../base/values.ts';

// Addresses that a webhook may have, and IP addresses that a request may reach.

/**
 * IPv4 addresses of no public host: the ranges of the IANA special-purpose registry (RFC 6890),
 * multicast, and the relays of 6to4.
 */
const specialIPv4 = parseRanges(
  'special',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
   192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
   198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`,
);

/**
 * The IPv6 range that IANA assigns to hosts. Outside are loopback, unique local, link-local,
 * multicast, NAT64 and IPv4-mapped addresses.
 */
const globalIPv6 = parseRanges('global', '2000::/3');

/** Of the range above: protocols with Teredo and benchmarks, documentation, 6to4, AS112. */
const specialIPv6 = parseRanges(
  'special',
  '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20',
);

/** An address that passed the checks, before its name is resolved. */
export interface Target {
  url: URL;
  /** True if all IP addresses must be in WEBHOOK_ALLOW. A public receiver has no such URL. */
  isIntranet: boolean;
}

/**
 * The address of a receiver. It is an https URL with a public host name on port 443. In the ranges
 * of WEBHOOK_ALLOW it may be any URL of http or https.
 */
export const WebhookAddress = v.pipe(
  v.string(),
  v.check(
    (text) => parseAddress(text) !== undefined,
    'must be an https URL on port 443 with a public host name, in ASCII, without a user name',
  ),
);

/** Returns undefined for an address that no webhook may have. Resolves no name. */
export function parseAddress(text: string): Target | undefined {
  const url = parseWebUrl(text);
  const host = url && hostOf(url);
  // The certificate of a name has no trailing dot.
  if (!host || host.endsWith('.')) return undefined;
  const isName = isIP(host) === 0 && host.includes('.') && !/(^|\.)localhost$/.test(host);
  if (isName && url.protocol === 'https:' && url.port === '') return { url, isIntranet: false };
  const ranges = allowedRanges();
  const fixed = fixedAddresses(host);
  const isAllowed = fixed
    ? fixed.some((address) => isInRanges(ranges, address))
    : ranges.rules.length > 0;
  return isAllowed ? { url, isIntranet: true } : undefined;
}

/** Returns the host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns the addresses of a host that needs no DNS: of an address, and of `localhost`. */
export function fixedAddresses(host: string): string[] | undefined {
  if (isIP(host) !== 0) return [host];
  return host === 'localhost' ? ['127.0.0.1', '::1'] : undefined;
}

/** Returns true if a request may reach this IP address. */
export function isReachable(address: string, isIntranet: boolean): boolean {
  if (isInRanges(allowedRanges(), address)) return true;
  return !isIntranet && isPublic(address);
}

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isInRanges(specialIPv4, address);
  return isInRanges(globalIPv6, address) && !isInRanges(specialIPv6, address);
}

function allowedRanges(): BlockList {
  return parseRanges('WEBHOOK_ALLOW', process.env.WEBHOOK_ALLOW ?? '');
}
