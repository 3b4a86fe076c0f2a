import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { handler as script } from '../../functions/get-reference-script.ts';
import { handler as reference } from '../../functions/show-reference.ts';
import { routes } from '../../shared/routes.ts';
import { isJson } from '../contract.ts';
import { invoke } from '../invoke.ts';

process.env.AUTH_URL = 'https://reviews.example/ws';

describe('GET /docs', () => {
  test('is a page that loads and asks nothing but this service', async () => {
    const { status, headers, body } = await invoke(reference);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    const addresses = [...`${body}`.matchAll(/https?:[^"&<\s]+/g)].map(([address]) => address);
    expect(addresses.filter((each) => !each.startsWith('https://reviews.example/ws/'))).toEqual([]);
    expect(addresses).toContain('https://reviews.example/ws/1/openapi.json');
    // The only script is a file: nothing inline runs under this policy.
    expect(
      `${body}`.match(/<script(?! id="api-reference" data-configuration="[^"]*"><)[^>]*>/g),
    ).toEqual(['<script src="https://reviews.example/ws/docs/scalar-1.72.1.js">']);
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

describe('the renderer', () => {
  test('is that of the version in its path, so that it may be kept for good', async () => {
    const packageJson = new URL(
      '../../node_modules/@scalar/fastify-api-reference/package.json',
      import.meta.url,
    );
    const { version } = JSON.parse(readFileSync(packageJson, 'utf8'));
    const route = routes.find(({ operation }) => operation === 'get-reference-script');
    expect(route?.path).toBe(`/docs/scalar-${version}.js`);
    const { status, headers, body } = await invoke(script);
    expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    // The file that Scalar publishes as dist/browser/standalone.js of this version.
    expect(createHash('sha256').update(body).digest('hex')).toBe(
      'bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c',
    );
    // Lambda answers with 6 MB of JSON at most.
    expect(Buffer.byteLength(JSON.stringify({ body, headers }))).toBeLessThan(6_000_000);
  });

  test('HEAD has its headers only', async () => {
    const { headers, body } = await invoke(script, { method: 'HEAD' });
    expect([headers['content-type'], body]).toEqual(['text/javascript; charset=utf-8', '']);
  });
});
