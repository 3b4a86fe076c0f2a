import { csrfOn, headingOf, type Shown, textBetween, userIdOn } from '../helpers/browser.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';

const { issuer, url, authUrl, join } = await startStackWithProvider();

const yes = { logout: 'yes' };

describe('with an identity provider that has its own session', () => {
  test('a person who did not sign out is signed in without a question', async () => {
    const { browser, account } = await join('ann@example.com');
    expect(headingOf(account)).toBe('ann');
    browser.jar.delete('session /');
    expect(headingOf(await browser.visit('account'))).toBe('ann');
  });

  test('sign-out ends both sessions', async () => {
    const { browser, account } = await join('ben@example.com');
    const asked = await browser.submit(account, 'Sign out');
    expect(asked.url.startsWith(`${issuer}/session/end?`)).toBe(true);
    expect(headingOf(asked)).toBe('Do you want to sign out?');
    // Our session ends whatever the person answers to the provider.
    expect(browser.jar.has('session /')).toBe(false);
    const over = await browser.submit(asked, 'op.logoutForm', yes);
    expect(over.url).toBe(`${authUrl}/account/sign-out`);
    expect(headingOf(over)).toBe('You are signed out');
    expect(over.html).toContain('Sign in again');
    expect(headingOf(await browser.visit('account'))).toBe('Who are you?');
  });

  test('deleting the account ends both sessions, and confirms the deletion', async () => {
    const { browser, account } = await join('cat@example.com');
    const id = userIdOn(account);
    const page = await browser.visit('account/delete');
    const asked = await browser.submit(page, 'Delete account', { name: headingOf(account) });
    expect(await fetch(`${url}/user/${id}`)).toHaveStatus(404);
    const over = await browser.submit(asked, 'op.logoutForm', yes);
    expect(headingOf(over)).toBe('Your account was deleted');
    // The confirmation appears once.
    expect(headingOf(await browser.visit('account/sign-out'))).toBe('You are signed out');
    const signIn = await browser.visit('account');
    expect(headingOf(signIn)).toBe('Who are you?');
    const fresh = await browser.submit(signIn, 'Sign in', { email: 'cat@example.com' });
    expect(headingOf(fresh)).toBe('Choose your public name');
    expect(userIdOn(await browser.visit('account'))).not.toBe(id);
  });

  test('the page redirects to the provider by itself, and has a link', async () => {
    const { browser, account } = await join('dan@example.com');
    const body = new URLSearchParams({ csrf: csrfOn(account) });
    const idToken = browser.jar.get('id-token /')?.value;
    expect(idToken).toMatch(/^ey[\w-]+\.ey[\w-]+\.[\w-]+$/);
    const Cookie = `session=${browser.jar.get('session /')?.value}; id-token=${idToken}`;
    const headers = { Cookie };
    const response = await fetch(`${authUrl}/account/sign-out`, { method: 'POST', headers, body });
    expect(response).toHaveStatus(200);
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
    const shown = { html: await response.text() } as Shown;
    expect(headingOf(shown)).toBe('You are signed out');
    const there = new URL(textBetween(shown, '<a href="', '"'));
    expect(textBetween(shown, 'content="0; url=', '"')).toBe(there.href);
    expect(there.origin + there.pathname).toBe(`${issuer}/session/end`);
    expect(Object.fromEntries(there.searchParams)).toEqual({
      client_id: 'reviews',
      post_logout_redirect_uri: `${authUrl}/account/sign-out`,
      // By it the provider knows whom to sign out. Keycloak then asks nothing.
      id_token_hint: idToken,
    });
    expect(response.headers.getSetCookie().map((line) => line.split(';')[0])).toEqual(
      expect.arrayContaining(['session=', 'id-token=']),
    );
  });

  test('the sign-out address can be configured', async () => {
    process.env.OIDC_LOGOUT_URL = 'https://pool.example/logout?client_id=a&logout_uri=b%2Fc';
    const { browser, account } = await join('eve@example.com');
    // It needs no ID token, so none is kept.
    expect(browser.jar.has('id-token /')).toBe(false);
    const left = await browser.submit(account, 'Sign out');
    expect(left.url).toBe('https://pool.example/logout?client_id=a&logout_uri=b%2Fc');
  });
});

describe('GET /account/sign-out', () => {
  test('signs nobody out by itself', async () => {
    const { browser } = await join('fay@example.com');
    const asked = await browser.visit('account/sign-out');
    expect(headingOf(asked)).toBe('Sign out?');
    expect(asked.html.match(/Sign out</g)).toHaveLength(1);
    expect((await browser.visit('account')).html).toContain('Your id');
    const atProvider = await browser.submit(asked, 'Sign out');
    const over = await browser.submit(atProvider, 'op.logoutForm', yes);
    expect(headingOf(over)).toBe('You are signed out');
  });

  test('shows no menu for an ended session', async () => {
    const { browser, account } = await join('guy@example.com');
    const stale = browser.jar.get('session /');
    await browser.submit(account, 'Sign out');
    if (stale) browser.jar.set('session /', stale);
    const { html } = await browser.visit('account/sign-out');
    expect(html).toContain('You are signed out');
    expect(html).not.toContain('<form');
  });
});
