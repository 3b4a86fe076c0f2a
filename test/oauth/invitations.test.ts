import { type Browser, headingOf, nextSteps, openBrowser, type Shown } from '../helpers/browser.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { textIn } from '../helpers/visit.ts';

process.env.MEMBERS = '@club.example,invited';
const { issuer, authUrl, join } = await startStackWithProvider();
const { createInvitation, listInvitations } = await import(
  '../../shared/features/members/invitation.ts'
);
const { invitationUrl } = await import('../../shared/features/moderation/public.ts');

/** Opens the link of an invitation, and goes on to the identity provider. */
async function follow(link: string): Promise<{ browser: Browser; asked: Shown }> {
  const browser = openBrowser(authUrl, issuer);
  const shown = await browser.visit(link);
  const asked = await browser.visit(nextSteps(shown)['Sign in and join'] ?? '');
  expect(headingOf(asked)).toBe('Who are you?');
  return { browser, asked };
}

async function invite(people: number) {
  const { token, invitation } = await createInvitation({ people, days: 7 });
  const joined = async () =>
    (await listInvitations()).find(({ id }) => id === invitation.id)?.joined;
  return { link: invitationUrl(token), joined };
}

test('a stranger without an invitation opens no account, and reads what to do', async () => {
  const browser = openBrowser(authUrl, issuer);
  const asked = await browser.visit('account');
  const refused = await browser.submit(asked, 'Sign in', { email: 'eva@any.example' });
  expect(refused).toHaveStatus(403);
  expect(headingOf(refused)).toBe('This place is for its members');
  const words = textIn(refused.html);
  expect(words).toContain('eva@any.example is not an address of a member');
  expect(words).toContain('Moderators can invite you: ask one for a link.');
  expect(browser.jar.has('session /')).toBe(false);
});

test('with the link a stranger joins, begins at the front page, and stays a member', async () => {
  const { link, joined } = await invite(2);
  const { browser, asked } = await follow(link);
  const named = await browser.submit(asked, 'Sign in', { email: 'ann@any.example' });
  expect(headingOf(named)).toBe('Choose your public name');
  const home = await browser.submit(named, 'Save and continue', { display_name: 'Ann' });
  expect(home.url).toBe(`${authUrl}/`);
  expect(await joined()).toBe(1);
  const { id } = await join('ann@any.example');
  expect(await joined()).toBe(1);
  // Who knows the link already signs in with it as well.
  const again = await follow(link);
  const back = await again.browser.submit(again.asked, 'Sign in', { email: 'ann@any.example' });
  expect(back.url).toBe(`${authUrl}/`);
  expect((await join('ann@any.example')).id).toBe(id);
  expect(await joined()).toBe(1);
});

test('of two at the provider, the later one finds the last place taken, and the link ended', async () => {
  const { link, joined } = await invite(1);
  const early = await follow(link);
  const late = await follow(link);
  await early.browser.submit(early.asked, 'Sign in', { email: 'ben@any.example' });
  const refused = await late.browser.submit(late.asked, 'Sign in', { email: 'cid@any.example' });
  expect(refused).toHaveStatus(403);
  const words = textIn(refused.html);
  expect(words).toContain('All places of this invitation are taken. Ask the person who gave you');
  expect(words).not.toContain('Moderators can invite you');
  const shown = await openBrowser(authUrl, issuer).visit(link);
  expect([shown.status, headingOf(shown)]).toEqual([410, 'This invitation has ended']);
  expect(await joined()).toBe(1);
});

test('a member by address takes no place', async () => {
  const { link, joined } = await invite(1);
  const { browser, asked } = await follow(link);
  const named = await browser.submit(asked, 'Sign in', { email: 'dora@club.example' });
  expect(headingOf(named)).toBe('Choose your public name');
  expect(await joined()).toBe(0);
});
