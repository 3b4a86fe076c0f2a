import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { identityProvider } from '../../../../infra/local/sign-in/identity-provider.ts';
import { cpuOf } from '../../../helpers/cpu.ts';
import { claimsOf, openSignIn } from '../../../helpers/oidc-client.ts';

const gateway = await startGateway({
  port: 0,
  load: async () => () => ({ statusCode: 200, body: '' }),
});
const { origin } = new URL(gateway.url);
const callback = `${origin}/ws/account/callback`;
process.env.AUTH_URL = `${origin}/ws`;
const provider = await identityProvider(origin, callback);
gateway.mount(provider);
const { OIDC_ISSUER } = provider.environment;
afterAll(() => gateway.stop());

describe('the development sign-in', () => {
  test.each([
    ['Ann', 'Ann', 'Ann'],
    [' Ann ', 'Ann', 'Ann'],
    ['Émile Zola', 'Émile Zola', 'Emile.Zola'],
    ['', 'Reader', 'Reader'],
    ['🎷'.repeat(5_000), '🎷'.repeat(64), 'reader'],
  ])('accepts a name, cut to 64 characters: %#', async (name, taken, mailbox) => {
    const { url, send } = await openSignIn(provider.environment, callback);
    const signedIn = await send(url, { method: 'POST', body: new URLSearchParams({ name }) });
    const resumed = await send(signedIn.headers.get('location') ?? '');
    expect(await claimsOf(provider.environment, callback, resumed)).toMatchObject({
      sub: taken,
      email: `${mailbox}@example.com`,
    });
  });

  test('cannot be framed, and loads nothing: neither its page nor its errors', async () => {
    const { url, send } = await openSignIn(provider.environment, callback);
    const pages = [
      [await send(url), 200, 'Any name works.'],
      [await fetch(`${OIDC_ISSUER}/auth?client_id=<b>`), 400, 'client is invalid'],
    ] as const;
    for (const [page, status, text] of pages) {
      expect(page).toHaveStatus(status);
      const policy = page.headers.get('content-security-policy')?.split('; ');
      expect(policy).toEqual([
        "default-src 'none'",
        expect.stringMatching(/^style-src 'sha256-[\w+/]+='$/),
        'img-src data:',
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]);
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await page.text();
      expect(html).toContain(text);
      expect(html).not.toMatch(/<b>|https:\/\/(?!github)/);
    }
  });

  test.each(['name=', 'a&'])('refuses 64 KB of %s and more: 413', async (piece) => {
    const { url, send } = await openSignIn(provider.environment, callback);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = `${piece}${piece.repeat(5e6 / piece.length)}`;
    const taken = await cpuOf(async () => {
      const response = await send(url, { method: 'POST', headers, body });
      expect(response).toHaveStatus(413);
    });
    expect(taken).toBeLessThan(2_000);
  });

  test('refuses a URL that the library would parse for minutes: 414', async () => {
    for (const piece of ['a&', 'a=&', '&']) {
      const query = piece.repeat(200_000 / piece.length);
      const taken = await cpuOf(async () => {
        expect(await fetch(`${OIDC_ISSUER}/auth?${query}`)).toHaveStatus(414);
      });
      expect(taken).toBeLessThan(2_000);
    }
  });
});
