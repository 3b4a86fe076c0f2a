import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { signInOf, startMailServer } from '../helpers/mail-server.ts';
import { handsOn, lookAtAllOf } from '../helpers/page.ts';
import { admin, fresh, start } from '../helpers/service.ts';

// A new community on one server, with nothing but the service and an account for sending mails.

const browser = await launchBrowser();
const mailServer = await startMailServer();
afterAll(mailServer.stop);
const dataDir = fresh('community');
const service = await start(dataDir, {
  env: {
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'club@example.org',
    HELD_REVIEWS: '1',
    SITE_NAME: 'Record club',
  },
});
const at = service.url.replace(/\/1$/, '');

/** A browser of its own: a phone, or a laptop. */
async function device(width: number) {
  // Axe is a script, and pages allow none.
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    bypassCSP: true,
  });
  const page = await context.newPage();
  const hands = handsOn(() => page);
  return {
    page,
    context,
    ...hands,
    visit: (path: string) => page.goto(at + path),
    /** Asks for a mail at the account page. */
    async ask(address: string) {
      await page.goto(`${at}/account`);
      await hands.arrive('Sign in');
      await hands.fill('E-mail address', address);
      await hands.click('Send the mail');
      await hands.arrive('Check your mail');
      return signInOf((await mailServer.next(address.toLowerCase())).text);
    },
    /** Chooses a name at the first sign-in. Returns the id of the account. */
    async settle(name: string) {
      await hands.arrive('Choose your public name');
      await hands.fill('Public name', name);
      await hands.click('Save and continue');
      await hands.arrive(name);
      return (await page.locator('dt:text-is("Your id") + dd').textContent()) ?? '';
    },
  };
}

/** Waits until the page shows the text. Loads it again, because lists follow a moment later. */
async function appears(page: Page, text: string) {
  while ((await page.getByText(text).count()) === 0) await page.reload();
}

test('people sign in by mail, and a first review waits, is approved and is public', async () => {
  // Mia founds the club at a laptop, and reads her mail on a phone.
  const laptop = await device(1280);
  await laptop.visit('/account');
  await laptop.arrive('Sign in');
  await lookAtAllOf(laptop.page, 'mail-ask');
  const founding = await laptop.ask('mia@example.org');
  await lookAtAllOf(laptop.page, 'mail-sent');
  const elsewhere = await device(390);
  await elsewhere.page.goto(founding.link);
  await elsewhere.arrive('Sign in elsewhere');
  await lookAtAllOf(elsewhere.page, 'mail-elsewhere');
  await laptop.fill('Code', '1');
  await laptop.click('Sign in');
  await laptop.page.getByText('This code is wrong.').waitFor();
  await lookAtAllOf(laptop.page, 'mail-wrong');
  await laptop.fill('Code', (await elsewhere.page.locator('.digits').textContent()) ?? '');
  await laptop.click('Sign in');
  const mia = await laptop.settle('Mia');
  await admin(dataDir, ['user', 'promote', mia]);

  // Ann signs in on a phone, with the link. Her mail provider opens it before she does.
  const phone = await device(390);
  const { link } = await phone.ask('Ann@example.org');
  const scanner = await device(1280);
  for (let i = 0; i < 3; i++) {
    await scanner.page.goto(link);
    await scanner.arrive('Sign in elsewhere');
    expect(await scanner.page.getByRole('button').count()).toBe(0);
  }
  await phone.page.goto(link);
  await phone.arrive('Sign in');
  await lookAtAllOf(phone.page, 'mail-button');
  await phone.click('Sign in');
  const ann = await phone.settle('Ann');
  expect(ann).not.toBe(mia);

  // Somebody to whom the mail was forwarded gets nothing, before and after.
  await scanner.page.goto(link);
  await scanner.arrive('This link no longer works');
  await lookAtAllOf(scanner.page, 'mail-over');
  await scanner.page.getByRole('link', { name: 'Sign in again' }).click();
  await scanner.arrive('Sign in');

  const thing = randomUUID();
  await phone.visit(`/review/new?entity_id=${thing}&entity_type=release_group`);
  await phone.review('Forty minutes that reward every new listen.', '5 stars', 'Blue Train');
  await phone.hear('It waits for a moderator');

  await laptop.visit('/account/moderation?kind=held');
  await appears(laptop.page, 'Waits for approval');
  await laptop.page.locator('tbody').getByRole('link').first().click();
  await laptop.click('Approve the review');
  await laptop.hear('The review is public now.');

  await scanner.visit(`/entity/${thing}`);
  await appears(scanner.page, 'Forty minutes that reward every new listen.');
  await service.end('SIGTERM');
  expect(service.err.filter((line) => !line.startsWith('A new key'))).toEqual([]);
}, 120_000);
