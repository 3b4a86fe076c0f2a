import { ownUrl } from '../../../shared/pages/frame/own-url.ts';

const base = 'https://host.example/of/us/ws';
process.env.AUTH_URL = base;

test.each([
  [`${base}/account/tokens?a=b`, `${base}/account/tokens?a=b`],
  ['/of/us/ws/review/x', `${base}/review/x`],
  [`${base}/`, `${base}/`],
])('returns to a page of the service: %s', (address, expected) => {
  expect(ownUrl(address)).toBe(expected);
});

test.each([
  // Other services on the same host, which may redirect anywhere.
  'https://host.example/',
  'https://host.example/of/us',
  'https://host.example/of/us/wsx/account',
  '/of/them/ws/account',
  '/evil',
  '../../evil',
  `${base}/../evil`,
  `${base}/%2e%2e/evil`,
  'https://other.example/of/us/ws/account',
  '//other.example/of/us/ws/account',
  '///other.example/',
  '/\\other.example/',
  '\\\\other.example/',
  'http:other.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '/\t/other.example/',
  '\0//other.example',
  'https://user:word@host.example/of/us/ws/account',
  'https://host.example.other.example/of/us/ws/',
  '',
])('returns to the account, not to %j', (address) => {
  expect(ownUrl(address)).toBe(`${base}/account`);
});
