import { describe, expect, test } from '@jest/globals';
import { launchBrowser } from '../helpers/chromium.ts';
import { startStackWithProvider } from '../helpers/identity-provider.ts';

const browser = await launchBrowser();
const { authUrl } = await startStackWithProvider();

describe.each([true, false])('a browser with JavaScript: %s', (javaScriptEnabled) => {
  test('signs out of the service and the identity provider together', async () => {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // The provider has no icon.
      const isIcon = message.location().url.endsWith('/favicon.ico');
      if (!isIcon && message.type() === 'error') complaints.push(message.text());
    });
    const heading = (name: string | RegExp) =>
      page.getByRole('heading', { level: 1, name }).waitFor();
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const signIn = async () => {
      await page.goto(`${authUrl}/account`);
      await heading('Who are you?');
      await page.getByLabel('Email').fill(`ann-${javaScriptEnabled}@example.com`);
      await click('Sign in');
      await heading(/^Reader \d{4}$/);
    };

    await signIn();
    await click('Sign out');
    await heading('Do you want to sign out?');
    await click('Yes, sign me out');
    await heading('You are signed out');
    expect(page.url()).toBe(`${authUrl}/account/sign-out`);

    await signIn();
    const name = (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
    await page.getByRole('link', { name: 'Delete my account …' }).click();
    await heading('Delete your account');
    await page.getByLabel('To confirm, type your name').fill(name);
    await click('Delete account');
    await heading('Do you want to sign out?');
    await click('Yes, sign me out');
    await heading('Your account was deleted');

    await signIn();
    await page.goto(`${authUrl}/account/tokens`);
    await page.getByLabel('What should others call you?').fill('Ann');
    await click('Use this name');
    await page.getByRole('status').filter({ hasText: 'Your profile is saved.' }).waitFor();
    await heading('Personal access tokens');
    expect(await page.getByLabel('What should others call you?').count()).toBe(0);
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await heading('Ann');
    expect(complaints).toEqual([]);
    await context.close();
  });
});
