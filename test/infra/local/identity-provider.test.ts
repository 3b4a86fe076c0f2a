import { startGateway } from '../../../infra/local/gateway.ts';
import { identityProvider } from '../../../infra/local/identity-provider.ts';
import { cpuOf } from '../../helpers/cpu.ts';
import { challenge, verifier } from '../../helpers/oauth-client.ts';

const gateway = await startGateway({
  port: 0,
  load: async () => () => ({ statusCode: 200, body: '' }),
});
const { origin } = new URL(gateway.url);
const callback = `${origin}/ws/account/callback`;
process.env.AUTH_URL = `${origin}/ws`;
const provider = await identityProvider(origin, callback);
gateway.mount(provider);
const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = provider.environment;
afterAll(() => gateway.stop());

/** Opens the sign-in page for a new authorization request, with its cookies. */
async function openSignIn() {
  const query = new URLSearchParams({
    client_id: OIDC_CLIENT_ID,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const { headers } = await fetch(`${OIDC_ISSUER}/auth?${query}`, { redirect: 'manual' });
  const cookies = headers.getSetCookie().map((line) => line.split(';')[0]);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return {
    url: new URL(headers.get('location') ?? '', origin),
    headers: { Cookie: cookies.join('; '), ...form },
  };
}

/** Returns the claims of the ID token for a code. */
async function claimsOf(code: string): Promise<unknown> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: callback,
    client_id: OIDC_CLIENT_ID,
    client_secret: OIDC_CLIENT_SECRET,
  });
  const response = await fetch(`${OIDC_ISSUER}/token`, { method: 'POST', body });
  const { id_token = '' } = (await response.json()) as { id_token?: string };
  return JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
}

describe('the development sign-in', () => {
  test.each([
    ['Ann', 'Ann', 'Ann'],
    [' Ann ', 'Ann', 'Ann'],
    ['Émile Zola', 'Émile Zola', 'Emile.Zola'],
    ['', 'Reader', 'Reader'],
    ['🎷'.repeat(5_000), '🎷'.repeat(64), 'reader'],
  ])('accepts a name, cut to 64 characters: %#', async (name, taken, mailbox) => {
    const { url, headers } = await openSignIn();
    const body = new URLSearchParams({ name });
    const signedIn = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    const next = signedIn.headers.get('location') ?? '';
    const resumed = await fetch(next, { headers, redirect: 'manual' });
    const { searchParams } = new URL(resumed.headers.get('location') ?? '');
    const claims = { sub: taken, email: `${mailbox}@example.com` };
    expect(await claimsOf(searchParams.get('code') ?? '')).toMatchObject(claims);
  });

  test('cannot be framed, and loads nothing: neither its page nor its errors', async () => {
    const { url, headers } = await openSignIn();
    const pages = [
      [await fetch(url, { headers }), 200, 'Any name works.'],
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
    const { url, headers } = await openSignIn();
    const body = `${piece}${piece.repeat(5e6 / piece.length)}`;
    const taken = await cpuOf(async () => {
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
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
