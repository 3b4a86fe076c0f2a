/** @jest-environment-options {"variables":{"HELD_REVIEWS":"1","MAIL_FROM":"club@example.org"}} */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { stopClock } from '../helpers/clock.ts';
import { startMailServer } from '../helpers/mail-server.ts';
import { handsOn, lookAtAllOf } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// A new community on one server, with nothing but the service and an account for sending mails.

const browser = await launchBrowser();
const mailServer = await startMailServer();
Object.assign(process.env, { SMTP_URL: mailServer.url, SITE_NAME: 'Record club' });
const errors = jest.spyOn(console, 'error').mockImplementation(() => {});
const { authUrl: at } = await startTestStack();
const { run: admin } = await import('../helpers/admin.ts');
const { sendNotices } = await import('../../shared/features/notices/run.ts');
afterAll(mailServer.stop);

const minute = 60_000;
const hour = 60 * minute;

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
      await hands.fill('Email address', address);
      await hands.click('Send the mail');
      await hands.arrive('Check your mail');
      return mailServer.next(address.toLowerCase());
    },
    /** Chooses a name at the first sign-in. Returns the id of the account. */
    async settle(name: string) {
      await hands.arrive('Choose your public name');
      await hands.fill('Public name', name);
      await hands.click('Save and continue');
      await hands.hear('Welcome');
      await page.goto(`${at}/account`);
      await hands.arrive(name);
      return (await page.locator('dt:text-is("Your id") + dd').textContent()) ?? '';
    },
  };
}

/** Lets a time pass, and returns the mail that comes then. */
async function mailAfter(milliseconds: number, address: string) {
  stopClock(Date.now() + milliseconds);
  const mail = mailServer.next(address);
  let hasCome = false;
  void mail.then(() => {
    hasCome = true;
  });
  // A run of the service itself may be under way. This one does nothing then.
  while (!hasCome) await sendNotices();
  return mail;
}

/** Waits until the page shows the text. Loads it again, because lists follow a moment later. */
async function appears(page: Page, text: string) {
  while ((await page.getByText(text).count()) === 0) await page.reload();
}

test('people sign in by mail, write, approve, and are told by mail until they want no more', async () => {
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
  await admin('user', 'promote', mia);

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

  // Mia is told that something waits, and nothing of what it says.
  const call = await mailAfter(minute, 'mia@example.org');
  expect(call.headers.from).toContain('club@example.org');
  expect(call.text).toContain('1 review or text of a new author');
  expect(call.text).not.toContain('listen');
  await laptop.page.goto(call.link);
  await laptop.follow('New authors');
  await appears(laptop.page, 'Waits for approval');
  await laptop.page.locator('tbody').getByRole('link').first().click();
  await laptop.click('Approve the review');
  await laptop.hear('The review is public now.');

  await scanner.visit(`/entity/${thing}`);
  await appears(scanner.page, 'Forty minutes that reward every new listen.');

  // Ann is told, and wants no more such mails. A scanner that opens the link changes nothing.
  const news = await mailAfter(2 * minute, 'ann@example.org');
  expect(news.text).toContain('Blue Train');
  const review = news.link;
  await phone.page.goto(review);
  await phone.page.getByText('Forty minutes that reward every new listen.').waitFor();
  const stop = /<(.+)>/.exec(news.headers['list-unsubscribe'] ?? '')?.[1] ?? '';
  const wish = 'Moderators have decided on what I wrote';
  const isWished = async () => {
    await phone.visit('/account');
    return phone.page.getByLabel(wish).isChecked();
  };
  await scanner.page.goto(stop);
  await scanner.arrive('Stop these mails');
  await lookAtAllOf(scanner.page, 'mail-stop');
  expect(await isWished()).toBe(true);
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(stop, { method: 'POST', body })).status).toBe(200);
  expect(await isWished()).toBe(false);
  await lookAtAllOf(phone.page, 'mail-account');

  // Another decision is no mail to her.
  await laptop.page.goto(review.replace('/review/', '/account/moderation/reviews/'));
  await laptop.page.getByLabel('Reason').first().selectOption({ label: 'Spam' });
  await laptop.click('Hide the review');
  await laptop.hear('The review is hidden.');
  stopClock(Date.now() + 3 * hour);
  await sendNotices();
  const toAnn = mailServer.inbox.filter(({ to }) => to.includes('ann@example.org'));
  expect(toAnn).toHaveLength(2);
  expect(errors.mock.calls.flat().filter((line) => !/^A new key/.test(line))).toEqual([]);
}, 240_000);
