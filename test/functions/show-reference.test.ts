import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { handler as asset } from '../../functions/get-reference-asset.ts';
import { handler as reference } from '../../functions/show-reference.ts';
import { matchRoute } from '../../shared/http/match-route.ts';
import { routes } from '../../shared/routes.ts';
import { isJson } from '../helpers/contract.ts';
import { invoke } from '../helpers/invoke.ts';

process.env.AUTH_URL = 'https://reviews.example/ws';

describe('GET /docs/api', () => {
  test('is a page in a sandbox, which loads and asks nothing but this service', async () => {
    const { status, headers, body } = await invoke(reference);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('public, max-age=300');
    const [, script = ''] = /<script>([^<]*)<\/script>/.exec(body) ?? [];
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(body) ?? [];
    const own = (text: string) =>
      `https://reviews.example 'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(`${headers['content-security-policy']}`.split('; ')).toEqual([
      "default-src 'none'",
      'sandbox allow-scripts allow-popups allow-downloads',
      `script-src ${own(script)}`,
      `style-src ${own(style)}`,
      'img-src data:',
      'connect-src https://reviews.example',
      "form-action 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    const addresses = [...`${body}`.matchAll(/https?:[^"&<\s]+/g)].map(([address]) => address);
    expect(addresses.filter((each) => !each.startsWith('https://reviews.example/ws/'))).toEqual([]);
    expect(addresses).toContain('https://reviews.example/ws/1/openapi.json');
    expect(`${body}`.match(/<script[^>]*>/g)).toHaveLength(2);
  });

  test('has a title, an icon and a way back', async () => {
    const { body } = await invoke(reference);
    expect(body).toContain('<title>API reference · Reviews</title>');
    expect(body).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect(body).toContain('<a href="https://reviews.example/ws/">Reviews</a>');
  });

  test('is HTTPS only, as tokens are pasted into it', async () => {
    const { status } = await invoke(reference, { headers: { 'X-Forwarded-Proto': 'http' } });
    expect(status).toBe(400);
  });

  test('lists every endpoint for whom no script runs', async () => {
    const { body } = await invoke(reference);
    const [, list = ''] = /<noscript>(.*)<\/noscript>/s.exec(body) ?? [];
    for (const { method, path, base = '/1' } of routes.filter(isJson)) {
      expect(list).toContain(`<code>${method} /ws${base}${path}</code>`);
    }
    expect(list).toContain('</code> Publish a review</li>');
  });
});

describe('what the reference loads', () => {
  const packageJson = new URL('../../node_modules/swagger-ui-dist/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8'));
  const get = (file: string, method = 'GET') => invoke(asset, { method, path: { file } });

  test.each([
    ['js', 'javascript', '/*! For license'],
    ['css', 'css', '.swagger-ui'],
  ])(
    'has the version in its name, so that it may be kept for good: %s',
    async (ending, type, begin) => {
      const file = `swagger-ui-${version}.${ending}`;
      const { body: page } = await invoke(reference);
      expect(page).toContain(`="https://reviews.example/ws/docs/api/${file}"`);
      expect(matchRoute('GET', `/docs/api/${file}`)?.route.operation).toBe('get-reference-asset');
      const { status, headers, body } = await get(file);
      expect([status, headers['content-type']]).toEqual([200, `text/${type}; charset=utf-8`]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(`${body}`.startsWith(begin)).toBe(true);
      // Lambda answers with 6 MB of JSON at most.
      expect(Buffer.byteLength(JSON.stringify({ body, headers }))).toBeLessThan(6_000_000);
    },
  );

  test('HEAD has the headers only', async () => {
    const { headers, body } = await get(`swagger-ui-${version}.js`, 'HEAD');
    expect([headers['content-type'], body]).toEqual(['text/javascript; charset=utf-8', '']);
  });

  test.each([
    'swagger-ui-5.34.1.js',
    'index.html',
    '..%2Fpackage.json',
    'constructor',
    '__proto__',
  ])('is nothing else: %s', async (file) => {
    const { status, body } = await get(file);
    expect([status, /<h1>([^<]*)/.exec(body)?.[1]]).toEqual([404, 'Page not found']);
  });
});
