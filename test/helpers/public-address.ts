import { randomUUID } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { callerOf } from './api.ts';
import { credentialsOn, headingOf, openBrowser, type Shown, userIdOn } from './browser.ts';
import { startStackWithProvider } from './identity-provider.ts';
import { connect } from './oauth4webapi.ts';
import { describePlainHttp } from './plain-http.ts';
import { type Passed, startTlsProxy } from './proxy.ts';
import { startTestStack } from './stack.ts';

const login = 'https://login.example.org';
const redirect_uri = 'https://client.example/callback';
const securityContact = 'security@example.org';

/**
 * Texts that contain another address on purpose: namespaces, and examples of what a developer may
 * register.
 */
const said = [
  'http://www.w3.org/2005/Atom',
  'http://www.w3.org/2000/svg',
  'http%3A%2F%2Fwww.w3.org%2F2000%2Fsvg',
  'Address where people can read about the application, starting with http:// or https://',
  'https, or http on a loopback host such as http://localhost:8080/callback',
];

/**
 * Defines the tests of a service at `publicUrl`, behind a TLS proxy. Its identity provider has a
 * host of its own, or is our demo provider, where anyone signs in.
 */
export async function walkBehindProxy(publicUrl: string, provider: 'ordinary' | 'demo') {
  const { host, pathname } = new URL(publicUrl);
  const path = pathname.replace(/\/$/, '');
  const ways: { service?: string; login?: string } = {};
  const { passed } = await startTlsProxy([host, new URL(login).host], (url) => {
    if (url.host !== host) return ways.login;
    // The routes of a proxy that serves other sites on the same host.
    const isOurs = ['', '/.well-known/oauth-authorization-server'].some((above) =>
      `${url.pathname}/`.startsWith(`${above}${path}/`),
    );
    return isOurs ? ways.service : undefined;
  });
  const options = { publicUrl, securityContact };
  const { url, authUrl, local } =
    provider === 'demo'
      ? await startTestStack({ ...options, insecureSignIn: true })
      : await startStackWithProvider(options, async (at) => {
          ways.login = at;
          return login;
        });
  ways.service = local;
  const browser = openBrowser(authUrl, login);

  async function signIn(): Promise<Shown> {
    const field = provider === 'demo' ? 'name' : 'email';
    const person = { [field]: 'ann@example.com' };
    const asked = await browser.visit('account');
    // Mails that pages show are for a laptop.
    expect(asked.html).not.toContain('name="address"');
    const signedIn = await browser.submit(asked, 'Sign in', person);
    if (headingOf(signedIn) === 'Choose your public name') {
      const named = await browser.submit(signedIn, 'Save and continue', { display_name: 'Ann' });
      expect(named.url).toBe(`${authUrl}/`);
      return browser.visit('account');
    }
    expect(signedIn.url).toBe(`${authUrl}/account`);
    return signedIn;
  }

  test('serves its pages and API at PUBLIC_URL', async () => {
    expect(url).toBe(`${publicUrl}/ws/1`);
    expect(authUrl).toBe(`${publicUrl}/ws`);
    const home = await fetch(`${publicUrl}/`, { redirect: 'manual' });
    expect(new URL(home.headers.get('location') ?? '', `${publicUrl}/`).href).toBe(`${authUrl}/`);
    const base = await fetch(`${url}/`, { redirect: 'manual' });
    expect(base).toHaveStatus(302);
    expect(base.headers.get('location')).toBe(`${authUrl}/docs`);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([expect.objectContaining({ url })]);
    const guide = await (await fetch(`${authUrl}/docs/quickstart`)).text();
    expect(guide).toContain(`export BASE=${url}\n`);
    for (const page of [`${authUrl}/docs/api`, `${authUrl}/`]) {
      const { status, headers } = await fetch(page);
      expect([page, status]).toEqual([page, 200]);
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{7,}/);
    }
    await fetch(`${publicUrl}/robots.txt`);
    await fetch(`${publicUrl}/.well-known/security.txt`);
  });

  test('a client library discovers it and completes the whole OAuth flow', async () => {
    const userId = userIdOn(await signIn());
    const credentials = credentialsOn(await browser.register({ name: 'Library', redirect_uri }));
    const method = oauth.ClientSecretPost;
    const asked = { redirect_uri, scope: 'review' };
    const allow = async ({ href }: URL) => {
      const consent = await browser.visit(href);
      expect(consent.html).toContain('Let Library use your account?');
      return new URL((await browser.allow(consent)).url);
    };
    const connection = await connect(authUrl, method, credentials, asked, allow);
    expect(connection.server.token_endpoint).toBe(`${url}/oauth/token`);
    const { access_token } = await connection.refresh(connection.tokens.refresh_token);

    const entity_id = randomUUID();
    const published = await oauth.protectedResourceRequest(
      access_token,
      'POST',
      new URL(`${url}/review/`),
      new Headers({ 'Content-Type': 'application/json' }),
      JSON.stringify({
        entity_id,
        entity_type: 'release_group',
        text: 'Twenty-five characters, and then some more.',
        license_choice: 'CC BY-SA 3.0',
      }),
    );
    expect(published).toHaveStatus(200);
    const list = await fetch(`${url}/review/?entity_id=${entity_id}&limit=1`);
    const [, feed = ''] = /<([^>]*)>; rel="alternate"/.exec(list.headers.get('link') ?? '') ?? [];
    const atom = await (await fetch(new URL(feed, url))).text();
    const page = `${authUrl}/user/${userId}`;
    expect(atom).toContain(`<uri>${page}</uri>`);
    expect(await (await fetch(page)).text()).toContain(`<link rel="canonical" href="${page}">`);

    const call = callerOf(url, access_token);
    expect(await call('GET', '/user/me')).toHaveStatus(200);
    await connection.revoke(access_token);
    expect(await call('GET', '/user/me')).toHaveStatus(401);

    const left = await browser.submit(await browser.visit('account/connections'), 'Sign out');
    const over =
      provider === 'demo' ? left : await browser.submit(left, 'op.logoutForm', { logout: 'yes' });
    expect(over.url).toBe(`${authUrl}/account/sign-out`);
    expect(headingOf(over)).toBe('You are signed out');
    expect([...browser.jar.keys()].filter((name) => name.startsWith('__Host-session'))).toEqual([]);
  });

  test('every cookie requires HTTPS and stays with this host', () => {
    const lines = passed
      .filter((each) => each.url.href.startsWith(`${authUrl}/`))
      .flatMap(({ headers }) => headers.getSetCookie());
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      expect(line).toMatch(/^__Host-/);
      expect(line).toMatch(/; Secure(;|$)/);
      expect(line).toMatch(/; Path=\/(;|$)/);
      expect(line).not.toMatch(/; Domain/i);
    }
    const others = passed.flatMap(({ headers }) => headers.getSetCookie());
    for (const line of others) expect(line).toMatch(/; secure(;|$)/i);
    const carried = others.filter((line) => /^[\w-]*interaction-/.test(line));
    expect(carried.length > 0).toBe(provider === 'demo');
    for (const line of carried) {
      expect(line).toMatch(
        /^__Host-interaction-[^;]*;.* Path=\/;.*HttpOnly; Secure; SameSite=Lax$/,
      );
    }
  });

  describePlainHttp(`${local}${path}/ws`, authUrl);

  if (provider === 'demo') {
    test('the service reaches its own identity provider without the proxy', () => {
      const asked = passed.map((each) => each.url.pathname);
      const own = asked.filter((each) => each.startsWith(`${path}/identity-provider/`));
      expect(own).toContain(`${path}/identity-provider/auth`);
      expect(own.filter((each) => /openid-configuration|token|jwks/.test(each))).toEqual([]);
    });
  }

  test('no link, header, cookie or document names this machine or plain HTTP', () => {
    const { port } = new URL(local);
    const ours = `localhost|127\\.0\\.0\\.1|\\[::1\\]|:${port}\\b|http:|http%3a`;
    const foreign = new RegExp(ours, 'i');
    const documents = passed.map(shown);
    expect(documents.filter((all) => all.includes(publicUrl)).length).toBeGreaterThan(20);
    const found = documents.flatMap((all) => {
      const rest = said.reduce((left, each) => left.replaceAll(each, ''), all);
      const at = rest.search(foreign);
      return at < 0 ? [] : [[all.split('\n')[0], rest.slice(Math.max(0, at - 60), at + 60)]];
    });
    expect(found).toEqual([]);
  });
}

/** Returns headers and body, without the renderer of the reference, which is third-party code. */
function shown({ url, status, headers, body }: Passed): string {
  const isScript = url.pathname.endsWith('.js');
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return [`${status} ${url.href}`, ...lines, isScript ? '' : body].join('\n');
}
