import { launchBrowser } from '../helpers/chromium.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';
import { complaintsOn, handsOn } from '../helpers/page.ts';

const browser = await launchBrowser();
const { authUrl, issuer } = await startStackWithProvider();

describe.each([true, false])('a browser with JavaScript: %s', (javaScriptEnabled) => {
  test('signs out of the service and the identity provider together', async () => {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    const complaints = complaintsOn(page, issuer);
    const { click, follow, arrive, hear, signOut } = handsOn(() => page);
    const signIn = async () => {
      await page.goto(`${authUrl}/account`);
      await arrive('Who are you?');
      await page.getByLabel('Email').fill(`ann-${javaScriptEnabled}@example.com`);
      await click('Sign in');
    };

    await signIn();
    await arrive('Choose your public name');
    await page.getByLabel('Public name').fill('Ann');
    await click('Save and continue');
    await hear('Welcome');
    await signOut();
    await arrive('Do you want to sign out?');
    await click('Yes, sign me out');
    await arrive('You are signed out');
    expect(page.url()).toBe(`${authUrl}/account/sign-out`);

    await signIn();
    await arrive('Ann');
    const name = (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
    await follow('Delete my account …');
    await arrive('Delete your account');
    await page.getByLabel('To confirm, type your name').fill(name);
    await click('Delete account');
    await arrive('Do you want to sign out?');
    await click('Yes, sign me out');
    await arrive('Your account was deleted');

    // A new account: the question comes again, and leads back to the page that was asked for.
    await page.goto(`${authUrl}/account/tokens`);
    await arrive('Who are you?');
    await page.getByLabel('Email').fill(`ann-${javaScriptEnabled}@example.com`);
    await click('Sign in');
    await arrive('Choose your public name');
    await click('Save and continue');
    await arrive('Personal access tokens');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
