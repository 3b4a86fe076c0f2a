import * as v from 'valibot';
import { isReachable, WebhookAddress } from '../../../../shared/features/webhooks/address.ts';
import { Connection } from '../../../../shared/features/webhooks/connection.ts';

const isEnterable = (address: string) => v.is(WebhookAddress, address);

test.each([
  'https://example.com',
  'https://example.com/',
  'https://example.com:443/hooks?a=b',
  'https://hooks.xn--mnchen-3ya.example/reviews',
  'HTTPS://Hooks.Example.COM/a%20b',
  'https://1.2.3.4.example.com/',
])('accepts %s', (address) => {
  expect(isEnterable(address)).toBe(true);
});

/** No service but one with an intranet may have these. */
const refused = [
  // Not https on port 443.
  'http://example.com/',
  'http://example.com:443/',
  'https://example.com:8443/',
  'https://example.com:80/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  'example.com',
  '//example.com/',
  // A user name, and what looks like one.
  'https://ann@example.com/',
  'https://ann:secret@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  // This machine, and names of one label.
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://hooks.localhost/',
  'https://intranet/',
  'https://example/',
  'https://example.com./',
  // Literals of IPv4: dotted, short, whole, octal, hexadecimal, mixed, full width.
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0x7f.0.0.1/',
  'https://0x7f000001/',
  'https://0x7F.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://8.8.8.8/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://256.256.256.256/',
  // Literals of IPv6.
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fd00:ec2::254]/',
  'https://[2606:4700::1111]/',
  'https://[64:ff9b::7f00:1]/',
  // Not plain.
  'https:example.com/',
  'https:///example.com/',
  'https://exam ple.com/',
  'https://example.com/\r\nHost: a',
  ' https://example.com/',
  'https://exämple.com/',
  '',
  `https://example.com/${'a'.repeat(2000)}`,
];

test.each(refused)('refuses %j, and sends nothing to it', async (address) => {
  expect(isEnterable(address)).toBe(false);
  expect(await new Connection(address).send({ headers: {}, body: '{}' })).toEqual({
    outcome: 'failed',
    cause: 'address',
    milliseconds: expect.any(Number),
  });
});

test('names the rule', () => {
  const [issue] = v.safeParse(WebhookAddress, 'http://example.com/').issues ?? [];
  expect(issue?.message).toBe(
    'must be an https URL on port 443 with a public host name, in ASCII, without a user name',
  );
});

describe('with an intranet', () => {
  test.each([
    ['http://10.1.2.3:8080/hooks', '10.0.0.0/8', true],
    ['http://0x0a.1/', '10.0.0.0/8', true],
    ['https://10.1.2.3/', '10.0.0.0/8', true],
    ['http://hooks/', '10.0.0.0/8', true],
    ['http://hooks.intranet.example:8080/', '10.0.0.0/8', true],
    ['https://hooks.intranet.example:8443/', '10.0.0.0/8', true],
    ['http://[fd00::5]:8080/', 'fd00::/8', true],
    ['http://localhost:8080/', '127.0.0.0/8, ::1', true],
    ['http://127.0.0.1:8080/', '127.0.0.0/8, ::1', true],
    ['http://localhost:8080/', '10.0.0.0/8', false],
    ['http://127.0.0.1:8080/', '10.0.0.0/8', false],
    ['http://[::ffff:127.0.0.1]/', '10.0.0.0/8', false],
    ['http://8.8.8.8/', '10.0.0.0/8', false],
    ['http://169.254.169.254/', '10.0.0.0/8', false],
    ['http://ann@10.1.2.3/', '10.0.0.0/8', false],
    ['ftp://10.1.2.3/', '10.0.0.0/8', false],
    ['http://10.1.2.3/', '', false],
  ])('accepts %s in %j: %s', (address, ranges, isAccepted) => {
    process.env.WEBHOOK_ALLOW = ranges;
    expect(isEnterable(address)).toBe(isAccepted);
  });
});

describe('isReachable', () => {
  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700::1111',
    '2001:200::1',
    '2001:db9::1',
    '2003::1',
    '3ffe::1',
  ])('%s is public', (address) => {
    expect(isReachable(address, false)).toBe(true);
    expect(isReachable(address, true)).toBe(false);
  });

  test.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['shared by carriers', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['protocols', '192.0.0.0', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.1', '192.175.48.1'],
    ['multicast relay', '192.52.193.0', '192.52.193.255'],
    ['6to4 relay', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['benchmark', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.255'],
    ['unspecified and loopback', '::', '::1'],
    ['IPv4-mapped', '::ffff:8.8.8.8', '::ffff:10.0.0.1'],
    ['IPv4-compatible', '::8.8.8.8', '::7f00:1'],
    ['NAT64', '64:ff9b::808:808', '64:ff9b::a00:1'],
    ['local NAT64', '64:ff9b:1::1', '64:ff9b:1:ffff::1'],
    ['discard', '100::', '100::1'],
    ['Teredo and ORCHID', '2001::1', '2001:20::1'],
    ['benchmark', '2001:2::1', '2001:1ff:ffff::1'],
    ['documentation', '2001:db8::1', '3fff::1'],
    ['6to4', '2002::1', '2002:7f00:1::1'],
    ['AS112', '2620:4f:8000::', '2620:4f:8000::42'],
    ['unassigned', '4000::1', 'e000::1'],
    ['segment routing', '5f00::', '5f00::1'],
    ['unique local', 'fc00::1', 'fd00:ec2::254'],
    ['link-local', 'fe80::1', 'febf::1'],
    ['site-local', 'fec0::1', 'feff::1'],
    ['multicast', 'ff00::', 'ff02::1'],
    ['no address', '', 'example.com'],
  ])('%s is not public: %s, %s', (_range, ...addresses) => {
    for (const address of addresses) expect(isReachable(address, false)).toBe(false);
  });

  test('an intranet adds its ranges, and nothing else', () => {
    process.env.WEBHOOK_ALLOW = '10.0.0.0/8 fd00::/16';
    const addresses = ['10.9.9.9', '::ffff:10.9.9.9', 'fd00::5', '192.168.0.1', '127.0.0.1', '::1'];
    const answers = addresses.map((address) => isReachable(address, true));
    expect(answers).toEqual([true, true, true, false, false, false]);
  });
});
