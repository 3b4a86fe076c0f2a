import { BlockList, isIP } from 'node:net';

/** Address ranges of this machine. */
export const loopbackRanges = '127.0.0.0/8 ::1';

/**
 * Reads IP addresses and ranges in CIDR notation, separated by commas or spaces. Throws a sentence
 * for the operator, with the name of the variable.
 */
export function parseRanges(name: string, list: string): BlockList {
  const ranges = new BlockList();
  for (const entry of list.split(/[\s,]+/).filter(Boolean)) {
    const [address = '', bits = '', ...rest] = entry.split('/');
    const family = isIP(address);
    const longest = family === 6 ? 128 : 32;
    const isRange = /^\d{1,3}$/.test(bits) && Number(bits) <= longest && rest.length === 0;
    if (family === 0 || (entry.includes('/') && !isRange)) {
      throw new Error(
        `${name} contains ${entry}: write IP addresses or ranges such as 10.0.0.5 or 10.0.0.0/8`,
      );
    }
    const length = isRange ? Number(bits) : longest;
    ranges.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
  }
  return ranges;
}

/** Returns true if the text is an IP address in one of the ranges. */
export function isInRanges(ranges: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && ranges.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
