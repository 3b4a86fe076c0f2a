import { randomUUID } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { randomNumbers } from '../../bin/random.ts';
import { callerOf } from '../helpers/api.ts';
import {
  codeIn,
  evilUri,
  expectFormAgain,
  sentBack,
  startAuthorization,
} from '../helpers/authorization.ts';
import { headingOf, noticeOn, openBrowser } from '../helpers/browser.ts';

const { url, issuer, client, stranger, come, authorizeUrl, expectErrorPage, countRequests } =
  await startAuthorization();

const { redeem } = await import('../helpers/oauth-client.ts');

describe('the sign-in', () => {
  test.each([
    ['https://evil.example/'],
    [`${issuer.replace('//', '//evil:pw@')}/account`],
    ['account\r\nSet-Cookie: session=x'],
    [''],
  ])('does not return to %j', async (return_to) => {
    const browser = openBrowser(issuer);
    const query = new URLSearchParams({ return_to });
    const shown = await browser.signIn('Dan', `account/sign-in?${query}`);
    expect(shown.url.startsWith(`${issuer}/`)).toBe(true);
    expect(new URL(shown.url)).toMatchObject({ username: '', password: '' });
    expect(browser.jar.get('session /')?.value).not.toBe('x');
  });

  test('returns to the account if the target is too long for a cookie', async () => {
    const noise = Array.from({ length: 2000 }, () => randomUUID()).join('');
    const return_to = `${issuer}/account/connections?x=${noise.slice(0, 8000)}`;
    const query = new URLSearchParams({ return_to });
    const shown = await openBrowser(issuer).signIn('Dan', `account/sign-in?${query}`);
    expect(shown.url).toBe(`${issuer}/account`);
  });

  test('leaves at most four cookies when it is begun repeatedly', async () => {
    const browser = openBrowser(issuer);
    for (let i = 0; i < 6; i++) {
      await browser.visit('account/connections');
    }
    expect([...browser.jar.keys()].filter((name) => name.startsWith('sign-in-'))).toHaveLength(4);
    const asked = await browser.signIn('Dora', 'account/connections');
    const shown = await browser.submit(asked, 'name="display_name"', { display_name: 'Dora' });
    expect(shown.url).toBe(`${issuer}/account/connections`);
  });

  test('returns to the page that was asked for', async () => {
    const path = 'account/connections?x=%26%2B';
    const browser = openBrowser(issuer);
    // Somebody new is asked for a name before.
    const asked = await browser.signIn('Emil', path);
    const shown = await browser.submit(asked, 'name="display_name"', { display_name: 'Emil' });
    expect(shown.url).toBe(`${issuer}/${path}`);
    expect((await openBrowser(issuer).signIn('Emil', path)).url).toBe(`${issuer}/${path}`);
  });

  test('refuses two return addresses', async () => {
    expectErrorPage(await stranger.visit('account/sign-in?return_to=/ws/account&return_to=x'));
  });

  const random = randomNumbers(1);
  /** Makes 2,048 bytes of UTF-8 that do not compress. */
  const randomState = (first: number, last: number) => {
    let state = '';
    while (Buffer.byteLength(state) < 2048) {
      state += String.fromCodePoint(first + Math.floor(random() * (last + 1 - first)));
    }
    while (Buffer.byteLength(state) > 2048) state = state.replace(/.$/su, '');
    return state.padEnd(state.length + 2048 - Buffer.byteLength(state), 'x');
  };

  test.each([
    ['signs', 'ü+ %"&'],
    ['nothing', ''],
    ['2 KB of letters', 'abcdefgh'.repeat(256)],
    ['2 KB of ASCII', randomState(0x20, 0x7e)],
    ['2 KB of control characters', randomState(0x00, 0x1f)],
    ['2 KB of quotes', '"\\'.repeat(1024)],
    ['2 KB of Greek and Cyrillic', randomState(0x370, 0x4ff)],
    ['2 KB of Chinese', randomState(0x4e00, 0x9fff)],
    ['2 KB of emoji', randomState(0x1f300, 0x1faff)],
  ])('keeps the state of an authorization request: %s', async (name, state) => {
    const browser = openBrowser(issuer);
    const requests = await countRequests();
    const signIn = await browser.visit(authorizeUrl({ state }));
    expect(signIn.html).toContain('Development sign-in');
    expect(await countRequests()).toBe(requests);
    const cookie = [...browser.jar].find(([key]) => key.startsWith('sign-in-'));
    const attributes = '__Host-=; Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Lax';
    const size = `${cookie?.[0]}${cookie?.[1].value}${attributes}`.length;
    // Browsers drop larger cookies. A usual state takes far less.
    expect(size).toBeLessThan(name.startsWith('2 KB') ? 4000 : 1000);
    const consent = await browser.submit(signIn, 'Sign in', { name: 'Ben' });
    expect(consent.html).toContain('Let Demo use your account?');
    const back = await browser.allow(consent);
    expect(sentBack(back).get('state')).toBe(state);
    // Opening the page again does not ask again.
    expectErrorPage(await browser.visit(consent.url));
  });

  test('makes a new session each time, and ignores a planted one', async () => {
    const browser = openBrowser(issuer);
    browser.jar.set('session /', { value: 'planted', path: '/' });
    await browser.signIn('Eve');
    const first = browser.jar.get('session /')?.value;
    expect(first).not.toBe('planted');
    await browser.signIn('Eve', 'account/sign-in');
    const second = browser.jar.get('session /')?.value;
    const idOf = (cookie = '') => {
      const bytes = inflateRawSync(Buffer.from(cookie.split('.')[1] ?? '', 'base64url'));
      return JSON.parse(bytes.toString()).content.session_id;
    };
    expect(idOf(first)).toMatch(/^[\da-f]{32}$/);
    expect(idOf(second)).not.toBe(idOf(first));
  });

  test('can be finished once, only in the browser that began it', async () => {
    const attacker = openBrowser(issuer);
    const began = await attacker.visit('account/sign-in');
    const cookies = [...attacker.jar].filter(([key]) => key.startsWith('sign-in-'));
    for (const [name] of cookies) {
      attacker.jar.delete(name);
    }
    // The provider redirects to the callback with the attacker's code, as the victim's browser
    // would.
    const shown = await attacker.submit(began, 'Sign in', { name: 'Mallory' });
    expect(shown.url).toContain('/account/callback?code=');
    expectErrorPage(shown);
    const victim = openBrowser(issuer);
    await victim.visit('account/sign-in');
    expectErrorPage(await victim.visit(shown.url));
    expect(victim.jar.has('session /')).toBe(false);
    for (const [name, cookie] of cookies) {
      attacker.jar.set(name, cookie);
    }
    expect((await attacker.visit(shown.url)).url).toBe(`${issuer}/account`);
    for (const [name, cookie] of cookies) {
      attacker.jar.set(name, cookie);
    }
    const again = await attacker.visit(shown.url);
    expect(again).toHaveStatus(400);
    expect(headingOf(again)).toBe('Nothing was changed');
  });

  test.each([
    'code=x',
    'code=x&state=y',
    'error=access_denied',
    'error=login_required&state=x',
    '',
  ])('reports a failure: %s', async (query) => {
    const browser = openBrowser(issuer);
    await browser.visit('account/sign-in');
    expectErrorPage(await browser.visit(`account/callback?${query}`));
    expect(browser.jar.has('session /')).toBe(false);
  });

  test('makes one account per person', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => come('Fay')));
    expect(new Set(people.map(({ id }) => id)).size).toBe(1);
  });

  test('ends at sign-out', async () => {
    const { browser, account } = await come('Guy');
    expectErrorPage(await browser.post('account/sign-out', { csrf: 'x' }), 403);
    expect(browser.jar.has('session /')).toBe(true);
    const shown = await browser.submit(account, 'Sign out');
    expect(shown.html).toContain('You are signed out');
    expect(browser.jar.has('session /')).toBe(false);
    expect((await browser.visit('account')).html).toContain('Development sign-in');
  });
});

test('the page after an account deletion can be reloaded', async () => {
  const { browser } = await come('Moritz');
  const page = await browser.visit('account/delete');
  const over = await browser.submit(page, 'Delete account', { name: 'Moritz' });
  expect(over.url).toBe(`${issuer}/account/sign-out`);
  expect(over.html).toContain('Your account was deleted');
});

describe('a new user', () => {
  const paths = ['account/tokens', authorizeUrl({ state: 'x' })];

  test('keeps the name of the identity provider, and is told that it can be changed', async () => {
    const { browser, account } = await come('Kim');
    expect(account.html).toContain('You are new here');
    expect(account.html).toContain('<dd>New: votes on up to 10 reviews a day</dd>');
    for (const path of paths) {
      expect((await browser.visit(path)).html).not.toContain('name="display_name"');
    }
    await browser.submit(account, 'Save', { display_name: 'Kim', email: '' });
    expect((await browser.visit('account')).html).not.toContain('You are new here');
  });

  test('has a name once an application has set it', async () => {
    const { browser } = await come('Nia');
    const consent = await browser.visit(authorizeUrl({ scope: 'user' }));
    const { body } = await redeem(client, codeIn(await browser.allow(consent)));
    const call = callerOf(url, body.access_token);
    expect(await call('POST', '/user/me', { email: 'nia@example.com' })).toHaveStatus(200);
    expect((await browser.visit('account')).html).toContain('You are new here');
    expect(await call('POST', '/user/me', { display_name: 'Nia' })).toHaveStatus(200);
    expect((await browser.visit('account')).html).not.toContain('You are new here');
  });

  test('returns only to pages of the service', async () => {
    const { browser } = await come('Oda');
    const question = 'Save and continue';
    const page = await browser.visit('account?return_to=account%2Ftokens');
    for (const [i, return_to] of [
      evilUri,
      '//evil.example/',
      '',
      'javascript:alert(1)',
    ].entries()) {
      const shown = await browser.submit(page, question, { display_name: 'Oda', return_to });
      // Somebody new begins at the front page.
      expect(shown.url).toBe(i === 0 ? `${issuer}/` : `${issuer}/account`);
    }
    const fault = await browser.submit(page, question, { display_name: ' ' });
    expectFormAgain(fault, 'display_name', ' ', 'It must have some visible character.');
    // An invalid form keeps the return address.
    const named = await browser.submit(fault, 'Save', { display_name: 'Oda', email: '' });
    expect(named.url).toBe(`${issuer}/account/tokens`);
    expect(noticeOn(named)).toBe('Your settings are saved.');
  });
});
