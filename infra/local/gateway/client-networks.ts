import { isIP } from 'node:net';

/** The client of a request, see `arrivalOf`. */
export interface Client {
  client: string;
  /** This machine or a trusted proxy, which has no limit: several clients may be behind it. */
  isInside: boolean;
}

/** A network that a client belongs to. */
interface Network {
  name: string;
  /** The limit of the network, in limits of one address. Divides `largestShare`. */
  share: number;
}

export const largestShare = 4;

/**
 * The networks of IPv6 that share a limit. A household has 64 or 56 bits of its own, a rented
 * server often 48. Phones of one company share 48 bits, so a wider network has more.
 */
const ipv6Networks = [
  { bits: 64, share: 1 },
  { bits: 56, share: 2 },
  { bits: 48, share: largestShare },
];

/** Returns the networks of a client, narrowest first. An IPv4 address is one by itself. */
export function networksOf(address: string): Network[] {
  const [plain = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined || isIP(plain) !== 6) return [{ name: mapped ?? plain, share: 1 }];
  const digits = digitsOf(plain);
  return ipv6Networks.map(({ bits, share }) => ({
    name: `${digits.slice(0, bits / 4)}/${bits}`,
    share,
  }));
}

/** Returns the 32 hexadecimal digits of an IPv6 address. */
function digitsOf(address: string) {
  const [head = [], tail] = address.split('::').map((half) => half.split(':').filter(Boolean));
  // Two colons stand for as many zeros as are missing of eight groups.
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return groups.map((group) => group.padStart(4, '0')).join('');
}
