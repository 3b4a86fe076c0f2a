import { faultsOn, headingOf, nextSteps, textBetween } from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { operator } from '../helpers/world.ts';

const { url, authUrl, join } = await startStackWithProvider();

const { makeClient } = await import('../helpers/oauth-client.ts');
const { decideUser } = await import('../../shared/features/moderation/account-decisions.ts');

const deleteButton = '>Delete account<';

/** Signs up a person with a name. */
async function signUp(email: string) {
  const { browser, account, id } = await join(email);
  const named = await browser.submit(account, 'Save', { display_name: `Zoë  ${email}`, email: '' });
  return { browser, id, name: headingOf(named) };
}

const isThere = async (id: string) => (await fetch(`${url}/user/${id}`)).status === 200;

describe('GET /account/delete', () => {
  test('says what is deleted and what stays', async () => {
    const { browser, id } = await signUp('ann@example.com');
    const page = await browser.visit('account/delete');
    expect(page.html).toContain('What is deleted permanently');
    expect(page.html).toContain('What is kept');
    expect(page.html).not.toContain('The applications that you have registered');
    expect(page.html).not.toContain('The block of your account');
    await makeClient({ id }, undefined, 'Shelf <b>');
    await makeClient({ id }, undefined, 'Player');
    expect((await browser.visit('account/delete')).html).toMatch(
      /The applications that you have registered[^:]*:\s*<strong>Shelf &lt;b&gt;<\/strong>, <strong>Player<\/strong>/,
    );
    // The menu marks it as a page of the account.
    expect(page.html).toMatch(/<a href="[^"]*\/account" aria-current="true">Account/);
  });

  test('says that a block stays', async () => {
    const { browser, id } = await signUp('bea@example.com');
    await decideUser(id, 'block', operator);
    const stays = textBetween(await browser.visit('account/delete'), 'What is kept', '</ul>');
    const block =
      'The block of your account: its date and a hash of your sign-in, without your name';
    expect(stays.replaceAll(/\s+/g, ' ')).toContain(block);
  });

  test('requires a sign-in within ten minutes, with a password', async () => {
    const { browser, id, name } = await signUp('ben@example.com');
    const old = await browser.visit('account/delete');
    const now = Date.now();
    stopClock(now + 9.5 * 60_000);
    expect((await browser.visit('account/delete')).html).toContain(deleteButton);
    stopClock(now + 10.5 * 60_000);
    const stale = await browser.visit('account/delete');
    expect(stale.html).not.toContain(deleteButton);
    expect(nextSteps(stale)).toMatchObject({ 'Keep account': `${authUrl}/account` });
    // A form from before shows the page again, and deletes nothing.
    const refused = await browser.submit(old, 'Delete account', { name });
    expect(nextSteps(refused)).toEqual(nextSteps(stale));
    expect(await isThere(id)).toBe(true);

    // Otherwise the provider would sign in anyone at this browser without a password.
    const asked = await browser.visit(nextSteps(stale)['Sign in again'] ?? '');
    expect(headingOf(asked)).toBe('Who are you?');
    const fresh = await browser.submit(asked, 'Sign in', { email: 'ben@example.com' });
    expect(fresh.url).toBe(`${authUrl}/account/delete`);
    expect(fresh.html).toContain(deleteButton);
  });
});

describe('POST /account/delete', () => {
  test.each(['', ' ', 'Zoë', 'zoë cat@example.com', 'Cat', 'yes'])(
    'deletes nothing for the name %j',
    async (name) => {
      const { browser, id } = await signUp('cat@example.com');
      const page = await browser.visit('account/delete');
      const shown = await browser.submit(page, 'Delete account', { name });
      expect(shown).toHaveStatus(400);
      expect(Object.keys(faultsOn(shown))).toEqual(['', 'name']);
      expect(shown.html).toContain(deleteButton);
      expect(await isThere(id)).toBe(true);
    },
  );

  test.each([
    ['as it is', (name: string) => name],
    ['with one space', (name: string) => name.replaceAll('  ', ' ')],
    ['with spaces around', (name: string) => ` ${name} `],
    ['with a combining accent', (name: string) => name.normalize('NFD')],
  ])('deletes the account if its name is typed %s', async (how, typed) => {
    const { browser, id, name } = await signUp(`${how.replaceAll(' ', '-')}@example.com`);
    const page = await browser.visit('account/delete');
    const asked = await browser.submit(page, 'Delete account', { name: typed(name) });
    expect(await isThere(id)).toBe(false);
    const over = await browser.submit(asked, 'op.logoutForm', { logout: 'yes' });
    expect(headingOf(over)).toBe('Your account was deleted');
    // The page has a link to go on, and no menu.
    expect(over.html).toMatch(/<a href="[^"]*\/account">sign in<\/a>/);
    expect(over.html).not.toContain('<nav');
    expect(headingOf(await browser.visit('account'))).toBe('Who are you?');
  });

  test('tells a person who clicks twice that the account was deleted', async () => {
    const { browser, name } = await signUp('dan@example.com');
    const page = await browser.visit('account/delete');
    const session = browser.jar.get('session /');
    await browser.submit(page, 'Delete account', { name });
    if (session) browser.jar.set('session /', session);
    const second = await browser.submit(page, 'Delete account', { name });
    expect(second).toHaveStatus(401);
    expect(headingOf(second)).toBe('Your account was deleted');
  });
});
