import type { IncomingMessage } from 'node:http';
import {
  arrivalOf,
  localUrl,
  readPublicAddress,
} from '../../../../infra/local/gateway/public-address.ts';

const site = 'https://reviews.example.org';

/** Makes a request from this peer, with the parts that the code reads. */
function from(remoteAddress: string | undefined, headers: Record<string, string>) {
  const socket = { remoteAddress, localPort: 3000 };
  return { headers: { host: 'localhost:3000', ...headers }, socket } as IncomingMessage;
}

describe('PUBLIC_URL', () => {
  test.each([
    [site, site, ''],
    [`${site}/`, site, ''],
    ['HTTPS://Reviews.Example.org', site, ''],
    ['https://example.org:8443/reviews/', 'https://example.org:8443', '/reviews'],
    ['https://example.org/a/b-c', 'https://example.org', '/a/b-c'],
    ['http://localhost:8080', 'http://localhost:8080', ''],
  ])('accepts %s', (publicUrl, origin, path) => {
    const address = readPublicAddress(publicUrl);
    expect(address.url.origin).toEqual(origin);
    expect(address.path).toEqual(path);
  });

  test.each([
    ['reviews.example.org', 'is not the address of a service'],
    ['https://', 'is not the address of a service'],
    ['ftp://reviews.example.org', 'is not the address of a service'],
    ['https://ann:secret@reviews.example.org', 'is not the address of a service'],
    ['https://reviews.example.org?a=b', 'is not the address of a service'],
    ['https://reviews.example.org/#a', 'is not the address of a service'],
    ['https://reviews.example.org//a', 'is not the address of a service'],
    ['https://reviews.example.org/a%20b', 'is not the address of a service'],
    ['http://reviews.example.org', 'must begin with https://'],
    ['https://reviews.example.org/ws', 'must not contain /ws'],
    ['https://reviews.example.org/ws/1', 'must not contain /ws'],
  ])('refuses %s', (publicUrl, why) => {
    expect(() => readPublicAddress(publicUrl)).toThrow(`PUBLIC_URL ${publicUrl} ${why}`);
  });
});

describe('TRUSTED_PROXIES', () => {
  const invalid = [
    'proxy',
    '10.0.0.0/33',
    '10.0.0',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '::1/-1',
  ];
  test.each(invalid)('refuses %s', (entry) => {
    expect(() => readPublicAddress(site, `10.1.1.1, ${entry}`)).toThrow(
      `TRUSTED_PROXIES contains ${entry}: write IP addresses or ranges`,
    );
  });

  const spoofed = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-port': '1',
  };

  test.each([
    ['127.0.0.1', undefined],
    ['127.9.9.9', undefined],
    ['::1', undefined],
    ['::ffff:127.0.0.1', undefined],
    ['10.0.0.5', '10.0.0.5'],
    ['::ffff:10.200.0.5', '192.168.0.1 10.0.0.0/8'],
    ['fd00::7', '10.0.0.0/8,fd00::/64'],
    ['fe80::1%eth0', 'fe80::/10'],
  ])('trusts %s, with %s', (peer, trusted) => {
    expect(arrivalOf(from(peer, spoofed), readPublicAddress(site, trusted))).toMatchObject({
      protocol: 'https',
      hostname: 'reviews.example.org',
      port: '443',
      client: '203.0.113.9',
    });
  });

  test.each([
    ['192.0.2.7', undefined],
    ['10.0.0.6', '10.0.0.5'],
    ['11.0.0.5', '10.0.0.0/8'],
    ['::ffff:192.0.2.7', '10.0.0.0/8'],
    ['fd00:0:0:1::7', 'fd00::/64'],
    [undefined, '0.0.0.0/0'],
  ])('does not trust %s, with %s', (peer, trusted) => {
    const address = readPublicAddress(site, trusted);
    const plain = arrivalOf(from(peer, {}), address);
    expect(arrivalOf(from(peer, spoofed), address)).toEqual(plain);
    expect(plain).toMatchObject({ protocol: 'http', client: peer ?? '' });
  });

  test('trusts nobody without a public address', () => {
    expect(arrivalOf(from('127.0.0.1', spoofed))).toMatchObject({
      protocol: 'http',
      hostname: 'localhost',
      port: '3000',
      client: '127.0.0.1',
    });
  });

  test.each([
    ['https', 'https'],
    ['HTTPS', 'https'],
    ['http, https', 'https'],
    ['https, http', 'http'],
    ['http', 'http'],
    ['', 'http'],
  ])('takes the last value of the protocol: %j is %s', (sent, protocol) => {
    const request = from('127.0.0.1', { 'x-forwarded-proto': sent });
    expect(arrivalOf(request, readPublicAddress(site)).protocol).toBe(protocol);
  });

  test('takes the client before the proxies, and ignores what it claims', () => {
    const request = from('127.0.0.1', { 'x-forwarded-for': '8.8.8.8, 203.0.113.9, 10.0.0.5' });
    expect(arrivalOf(request, readPublicAddress(site, '10.0.0.0/8')).client).toBe('203.0.113.9');
  });
});

test.each([
  ['/ws/1/review?limit=1', '', '/ws/1/review?limit=1'],
  ['/reviews/ws/1/review?limit=1', '/reviews', '/ws/1/review?limit=1'],
  ['/ws/1/review', '/reviews', '/ws/1/review'],
  ['/reviewsws/1', '/reviews', '/reviewsws/1'],
  ['/reviews', '/reviews', '/'],
  ['/reviews?a', '/reviews', '/?a'],
  ['/', '/reviews', '/'],
  ['https://example.org/reviews/ws/', '/reviews', '/ws/'],
  ['http://example.org', '', '/'],
  ['*', '', '*'],
])('%s below %j is %s', (sent, path, below) => {
  expect(localUrl(sent, path)).toBe(below);
});
