import {
  csrfOn,
  headingOf,
  noticeOn,
  openBrowser,
  type Shown,
  userIdOn,
} from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { textIn } from '../helpers/visit.ts';

const { issuer, authUrl, url, join } = await startStackWithProvider();
const { undoUrl } = await import('../../shared/features/notices/undo-link.ts');
const { findAccount } = await import('../../shared/core/user/user-repository.ts');
const { makeGrant, Person } = await import('../helpers/world.ts');

type Joined = Awaited<ReturnType<typeof join>>;

/** Goes from the account page to the sign-in with another address. */
async function begin({ browser }: Pick<Joined, 'browser'>): Promise<Shown> {
  const page = await browser.visit('account/address');
  return browser.submit(page, 'Continue with the new address');
}

/** Signs in with another address to move the account there. */
async function move(joined: Joined, email: string): Promise<Shown> {
  const asked = await begin(joined);
  expect(headingOf(asked)).toBe('Who are you?');
  return signInAs(joined, asked, email);
}

/** Signs in at the provider, which has a session of somebody already, and ends it first. */
async function signInAs({ browser }: Joined, asked: Shown, email: string): Promise<Shown> {
  const shown = await browser.submit(asked, 'Sign in', { email });
  // A script of the provider would send this form.
  return shown.html.includes('name="xsrf"') ? browser.submit(shown, 'name="xsrf"') : shown;
}

async function linkOf({ id }: Joined, from: string): Promise<string> {
  return undoUrl({ user_id: id, from });
}

const identityOf = async ({ id }: Joined) => `${(await findAccount(id))?.contact.identity}`;

test('the account page says which address signs in, and that the other is another thing', async () => {
  const { browser, account } = await join('zoe@example.com');
  expect(textIn(account.html)).toContain('You sign in with zoe@example.com .');
  await browser.submit(account, 'name="email"', { display_name: 'zoe', email: 'me@home.example' });
  const { html } = await browser.visit('account');
  expect(textIn(html)).toContain('You sign in with zoe@example.com .');
  expect(html).toContain('value="me@home.example"');
});

test('an account moves to another address, and only that opens it from then on', async () => {
  const ann = await join('ann.old@example.com');
  const elsewhere = await join('ann.old@example.com');
  const moved = await move(ann, 'ann.new@example.com');
  expect(moved.url).toBe(`${authUrl}/account`);
  expect(noticeOn(moved)).toMatch(/^You sign in with the new address now\./);
  expect(textIn(moved.html)).toContain('You sign in with ann.new@example.com .');
  expect(userIdOn(moved)).toBe(ann.id);
  // Other devices are signed out, and the address before opens nothing new for a week.
  expect(headingOf(await elsewhere.browser.visit('account'))).not.toBe('ann.old');
  expect((await join('ann.new@example.com')).id).toBe(ann.id);
  const browser = openBrowser(authUrl, issuer);
  const old = await browser.submit(await browser.visit('account'), 'Sign in', {
    email: 'ann.old@example.com',
  });
  expect(headingOf(old)).toBe('Take your account back');
  expect(browser.jar.has('session /')).toBe(false);
});

test('whoever has the address before takes the account back: by its link, or by signing in', async () => {
  const ben = await join('ben.old@example.com');
  const from = await identityOf(ben);
  const moved = await move(ben, 'ben.new@example.com');
  expect(noticeOn(moved)).toBeDefined();
  const { access_token } = await makeGrant(new Person(ben.id), ['user']);
  const victim = openBrowser(authUrl, issuer);
  const page = await victim.visit(await linkOf(ben, from));
  // Opening it changes nothing.
  expect((await ben.browser.visit('account')).url).toBe(`${authUrl}/account`);
  for (let i = 0; i < 2; i++) {
    const undone = await victim.submit(page, 'Take the account back');
    expect(headingOf(undone)).toBe('The account is yours again');
  }
  const headers = { Authorization: `Bearer ${access_token}` };
  expect(await fetch(`${url}/user/me`, { headers })).toHaveStatus(401);
  expect(headingOf(await ben.browser.visit('account'))).not.toBe('ben.old');
  expect((await join('ben.old@example.com')).id).toBe(ben.id);
  expect((await join('ben.new@example.com')).id).not.toBe(ben.id);
});

test('an address with an account here is refused, and says so to its owner alone', async () => {
  const cat = await join('cat@example.com');
  const dan = await join('dan@example.com');
  const refused = await move(cat, 'dan@example.com');
  expect(headingOf(refused)).toBe('Your address was not changed');
  expect(textIn(refused.html)).toContain('This address has another account here.');
  expect(userIdOn(await cat.browser.visit('account'))).toBe(cat.id);
  expect((await join('dan@example.com')).id).toBe(dan.id);
});

test('the same address changes nothing', async () => {
  const eve = await join('eve@example.com');
  const same = await move(eve, 'eve@example.com');
  expect(textIn(same.html)).toContain('You sign in so already.');
  expect((await eve.browser.visit('account')).html).toContain('eve@example.com');
});

test('a second move waits for a week', async () => {
  const fay = await join('fay@example.com');
  await move(fay, 'fay.new@example.com');
  const { html } = await fay.browser.visit('account/address');
  expect(html).toContain('Your address was changed in the last seven days.');
  expect(html).not.toContain('Continue with the new address');
});

test('a move needs a recent sign-in, and a form of the own session', async () => {
  const guy = await join('guy@example.com');
  const page = await guy.browser.visit('account/address');
  expect(await guy.browser.post('account/address', { csrf: 'x' })).toHaveStatus(403);
  stopClock(Date.now() + 11 * 60_000);
  expect((await guy.browser.visit('account/address')).html).toContain('Sign in again');
  const late = await guy.browser.post('account/address', { csrf: csrfOn(page) });
  expect(headingOf(late)).toBe('Sign in with another address');
  expect(late.html).toContain('Sign in again');
});

test('a link of somebody else’s move takes no account along', async () => {
  const mallory = await join('mallory@example.com');
  const page = await mallory.browser.visit('account/address');
  const response = await fetch(`${authUrl}/account/address`, {
    method: 'POST',
    body: new URLSearchParams({ csrf: csrfOn(page) }),
    headers: { Cookie: `session=${mallory.browser.jar.get('session /')?.value}` },
  });
  const [, link = ''] = /<a href="([^"]*move=[^"]*)"/.exec(await response.text()) ?? [];
  const ida = await join('ida@example.com');
  const asked = await ida.browser.visit(link.replaceAll('&amp;', '&'));
  const refused = await signInAs(ida, asked, 'ida2@example.com');
  expect(headingOf(refused)).toBe('Your address was not changed');
  expect(userIdOn(await ida.browser.visit('account'))).toBe(ida.id);
  expect((await join('mallory@example.com')).id).toBe(mallory.id);
});

test.each([
  ['a made-up link', async () => `${authUrl}/account/address/x.y.z`],
  [
    'a link to somebody who has not moved',
    async () => linkOf(await join('jo@example.com'), 'f'.repeat(64)),
  ],
])('%s undoes nothing', async (_, make) => {
  const link = await make();
  const answer = await fetch(link, { method: 'POST' });
  expect(answer).toHaveStatus(400);
  expect(await answer.text()).toContain('This link no longer works');
});

test('somebody signed in who opens the callback again goes to the account', async () => {
  const kim = await join('kim@example.com');
  const again = await kim.browser.visit('account/callback?code=x&state=y');
  expect(again.url).toBe(`${authUrl}/account`);
  expect(userIdOn(again)).toBe(kim.id);
});

test('somebody signed in whose other sign-in fails reads that nothing has changed', async () => {
  const lea = await join('lea@example.com');
  const response = await fetch(`${authUrl}/account/sign-in`, { redirect: 'manual' });
  const [pair = ''] = response.headers.getSetCookie();
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(pair) ?? [];
  lea.browser.jar.set(`${name} /`, { value, path: '/' });
  const state = new URL(response.headers.get('location') ?? '').searchParams.get('state');
  const shown = await lea.browser.visit(`account/callback?error=access_denied&state=${state}`);
  expect(headingOf(shown)).toBe('Nothing was changed');
  expect(textIn(shown.html)).toContain('You are still signed in as lea.');
});
