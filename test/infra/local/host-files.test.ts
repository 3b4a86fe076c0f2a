import { startGateway } from '../../../infra/local/gateway/gateway.ts';
import { readPublicAddress } from '../../../infra/local/gateway/public-address.ts';
import { readContact } from '../../../shared/base/site/contact.ts';
import { uncheckedFetch } from '../../helpers/contract.ts';

// The API does not describe the response of this function.
globalThis.fetch = uncheckedFetch;

process.env.AUTH_URL = 'https://example.org/reviews/ws';

const asked = jest.fn();
const load = async (operation: string) => async () => {
  asked(operation);
  return { statusCode: 200, body: '{}' };
};
const address = readPublicAddress('https://example.org/reviews');
const securityContact = 'mailto:security@example.org';
const gateways = await Promise.all([
  startGateway({ port: 0, load }),
  startGateway({ port: 0, load, address, securityContact }),
]);
afterAll(() => Promise.all(gateways.map(({ stop }) => stop())));
const [bare, proxied] = gateways.map(({ local }) => local);

const get = (url: string, method = 'GET') => fetch(url, { method, redirect: 'manual' });

test('the root of the host redirects to the first page', async () => {
  for (const method of ['GET', 'HEAD']) {
    for (const [url, location] of [
      [`${bare}/`, '/ws/'],
      [`${bare}/?utm_source=x`, '/ws/?utm_source=x'],
      [`${proxied}/`, '/reviews/ws/'],
      [`${proxied}/reviews`, '/reviews/ws/'],
      [`${proxied}/reviews?a=b?c`, '/reviews/ws/?a=b?c'],
      [`${proxied}/reviews/`, '/reviews/ws/'],
    ] as const) {
      const { status, headers } = await get(url, method);
      expect(status).toBe(302);
      expect(headers.get('location')).toEqual(location);
    }
  }
  expect(await get(`${bare}/`, 'POST')).toHaveStatus(404);
});

test('favicon.ico is the mark of the pages, for browsers that show JSON', async () => {
  const response = await get(`${bare}/favicon.ico`);
  expect(response).toHaveStatus(200);
  expect(response.headers.get('content-type')).toBe('image/svg+xml');
  expect(await response.text()).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox/);
});

describe('robots.txt', () => {
  test('keeps crawlers off everything but pages to read', async () => {
    const response = await get(`${bare}/robots.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(`User-agent: *
Allow: /ws/1/openapi.json
Allow: /ws/1/*.atom
Disallow: /ws/1/
Disallow: /ws/account
Disallow: /ws/oauth/
Disallow: /ws/find?
Sitemap: https://example.org/reviews/ws/sitemap.xml
`);
  });

  test('uses public paths', async () => {
    const text = await (await get(`${proxied}/robots.txt`)).text();
    expect(text.match(/\S+: \/\S+/g)).toHaveLength(6);
    for (const [line] of text.matchAll(/^\S+: \/.*$/gm)) expect(line).toContain(': /reviews/ws/');
  });
});

describe('security.txt', () => {
  test('names the contact, and expires in some weeks', async () => {
    const response = await get(`${proxied}/.well-known/security.txt`);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const text = await response.text();
    const expires = /^Expires: (\S+)$/m.exec(text)?.[1] ?? '';
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(Math.abs(days - 30)).toBeLessThan(1);
    expect(text.replace(expires, 'TIME')).toBe(`Contact: mailto:security@example.org
Expires: TIME
Canonical: https://example.org/.well-known/security.txt
`);
  });

  test('returns 404 unless a contact is set', async () => {
    expect(await get(`${bare}/.well-known/security.txt`)).toHaveStatus(404);
  });

  test.each([
    ['security@example.org', 'mailto:security@example.org'],
    ['mailto:security@example.org', 'mailto:security@example.org'],
    ['https://example.org/security', 'https://example.org/security'],
    ['tel:+49-30-1', 'tel:+49-30-1'],
  ])('accepts %s', (contact, url) => {
    expect(readContact('SECURITY_CONTACT', contact)).toBe(url);
  });

  const invalid = ['Ann', 'http://example.org', 'a@b c', 'a@b\nExpires: x', 'javascript:x'];
  test.each(invalid)('refuses %j', (contact) => {
    expect(() => readContact('SECURITY_CONTACT', contact)).toThrow('SECURITY_CONTACT');
  });
});

test.each([
  ['/reviews/ws/1/review', 'list-reviews'],
  ['/ws/1/review', 'list-reviews'],
  ['/.well-known/oauth-authorization-server/reviews/ws', 'get-server-metadata'],
  ['/reviews/ws/.well-known/oauth-authorization-server', 'get-server-metadata'],
])('%s behind a proxy leads to %s', async (path, operation) => {
  asked.mockClear();
  expect(await get(proxied + path)).toHaveStatus(200);
  expect(asked.mock.calls).toEqual([[operation]]);
});

test('ignores addresses of another issuer', async () => {
  const path = '/.well-known/oauth-authorization-server/ws';
  expect(await get(proxied + path)).toHaveStatus(404);
  expect(await get(bare + path)).toHaveStatus(200);
});
