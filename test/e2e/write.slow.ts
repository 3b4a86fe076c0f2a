import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { complaintsOn, handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const entity_id = randomUUID();
const browser = await launchBrowser();
const { authUrl: at } = await startTestStack();
const { nameEntities } = await import('../helpers/names.ts');
await nameEntities({ [entity_id]: 'Blue Train' });
const form = `${at}/review/new?entity_id=${entity_id}&entity_type=release_group`;
const pictures = process.env.PICTURES;

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

/** A browser that runs no script. */
const openContext = () =>
  browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });

async function picture(page: Page, name: string): Promise<void> {
  if (!pictures) return;
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const path = join(pictures, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path, fullPage: true });
    }
  }
}

/** Presses keys, and nothing else, as somebody without a mouse. */
function keysOn(page: Page) {
  /** Goes on by the tabulator until the focus is on what the locator finds. */
  async function reach(role: 'button' | 'link' | 'radio' | 'combobox', name: string) {
    const wanted = page.getByRole(role, { name, exact: true });
    for (let i = 0; i < 60; i++) {
      if (await wanted.and(page.locator(':focus')).count()) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`no key leads to the ${role} ${name}`);
  }
  return {
    reach,
    type: (text: string) => page.keyboard.type(text),
    press: (key: string) => page.keyboard.press(key),
    async enter(role: 'button' | 'link', name: string): Promise<void> {
      await reach(role, name);
      await page.keyboard.press('Enter');
    },
  };
}

async function open(context: BrowserContext, address: string) {
  const page = await context.newPage();
  const complaints = complaintsOn(page);
  await page.goto(address);
  return { page, complaints, ...handsOn(() => page), keys: keysOn(page) };
}

const errorsOf = (complaints: readonly string[]) =>
  complaints.filter((text) => !/status of 4(00|01|03|12)/.test(text));

test('a review is written, edited, drafted, published and deleted with the keyboard alone', async () => {
  const context = await openContext();
  const { page, complaints, arrive, hear, signIn, keys } = await open(context, form);
  await signIn('Ann');
  await arrive('Write a review: Blue Train');
  await picture(page, 'empty');
  // The group of stars is one stop. Its arrows choose.
  await keys.reach('radio', 'No stars');
  for (let i = 0; i < 4; i++) await keys.press('ArrowRight');
  expect(await page.getByRole('radio', { name: '4 stars' }).isChecked()).toBe(true);
  await keys.press('Tab');
  await keys.type('Forty minutes that reward ');
  await keys.press('Tab');
  await keys.type('Engl');
  await keys.press('Tab');
  await keys.press('Space');
  await picture(page, 'filled');
  await keys.enter('button', 'Publish');
  await arrive('Blue Train');
  const review = page.url();
  await hear('Your review is public.');
  await page.getByText('Forty minutes that reward').waitFor();
  await page.getByRole('img', { name: '4 of 5 stars' }).waitFor();
  await page.goto(`${at}/entity/${entity_id}`);
  await page.getByText('Forty minutes that reward').waitFor();

  await page.goto(form);
  await arrive('Edit your review: Blue Train');
  await picture(page, 'edit');
  await keys.reach('radio', '4 stars');
  await keys.press('ArrowRight');
  await keys.press('Tab');
  await keys.press('Control+End');
  await keys.type('each new listen.');
  await keys.enter('button', 'Save');
  await arrive('Blue Train');
  await hear('Your review is saved.');
  await page.getByText('Forty minutes that reward each new listen.').waitFor();
  await page.getByRole('img', { name: '5 of 5 stars' }).waitFor();

  await page.goto(`${at}/account/reviews`);
  await keys.enter('link', 'Delete');
  await arrive('Delete your review: Blue Train');
  await picture(page, 'delete');
  await keys.enter('button', 'Delete review');
  await hear('The review is deleted.');
  expect((await page.goto(review))?.status()).toBe(404);

  await page.goto(form);
  await keys.reach('radio', 'No stars');
  await keys.press('Tab');
  await keys.type('Not done yet, but it will be.');
  await keys.reach('combobox', 'Language of the text');
  await keys.type('German');
  await keys.press('Tab');
  await keys.press('Space');
  await keys.enter('button', 'Save as draft');
  await hear('The draft is saved. Only you can see it.');
  await keys.enter('button', 'Publish');
  await arrive('Blue Train');
  await page.getByText('Not done yet, but it will be.').waitFor();
  expect(errorsOf(complaints).filter((text) => !/404/.test(text))).toEqual([]);
});

test('two tabs that save one review show both texts', async () => {
  const context = await openContext();
  const first = await open(context, form);
  await first.signIn('Ben');
  await first.page.getByRole('radio', { name: '2 stars' }).check({ force: true });
  await first.page.getByLabel('Language of the text').selectOption('French');
  await first.page.getByText('Choose another licence').click();
  await first.page.getByLabel('CC BY 4.0').check();
  await first.click('Publish');
  await first.arrive('Blue Train');
  await first.page.goto(`${first.page.url()}/edit`);
  const second = await open(context, first.page.url());
  await second.fill('Your review', 'The text of the second tab, which is faster.');
  await second.click('Save');
  await second.arrive('Blue Train');
  const mine = 'The text of the first tab, which is slower.';
  await first.fill('Your review', mine);
  await first.click('Save');
  await first.page.getByRole('heading', { name: 'The saved review' }).waitFor();
  await first.page.getByText('The text of the second tab').waitFor();
  expect(await first.page.getByRole('textbox', { name: 'Your review' }).inputValue()).toBe(mine);
  await picture(first.page, 'conflict');
  await first.click('Save');
  await first.arrive('Blue Train');
  await first.page.getByText(mine).waitFor();
  expect(errorsOf(first.complaints)).toEqual([]);
});

test('nothing typed is lost when a session ends, nor when the form is wrong', async () => {
  const context = await openContext();
  const { page, click, fill, arrive, signIn } = await open(context, form);
  await signIn('Cleo');
  // Two characters are too few, and 5,000 of two UTF-16 units fit.
  await fill('Your review', '🎷🎷');
  await page.getByRole('radio', { name: '3 stars' }).check({ force: true });
  await page.getByLabel('Language of the text').selectOption('Japanese');
  await page.getByText('Choose another licence').click();
  await page.getByLabel('CC0 1.0').check();
  await click('Publish');
  await page.getByText('It must have 25 to 5000 characters.').waitFor();
  await picture(page, 'errors');
  expect(await page.getByRole('radio', { name: '3 stars' }).isChecked()).toBe(true);
  // All that the field takes, of characters that are the longest in a form.
  const longest = '語'.repeat(20_000);
  await fill('Your review', longest);
  const sending = page.waitForRequest((request) => request.method() === 'POST');
  await click('Publish');
  await page.getByText('Now it has 20000.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Your review' }).inputValue()).toBe(longest);
  // Browsers without Fetch Metadata send the origin alone.
  const headers = await (await sending).allHeaders();
  expect(headers).toMatchObject({ origin: new URL(at).origin, 'sec-fetch-site': 'same-origin' });
  const text = `${'🎷'.repeat(4_997)}\n\u202e.`;
  await fill('Your review', text);
  await context.clearCookies();
  await click('Publish');
  await arrive('You are signed out');
  await picture(page, 'signed-out');
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('link', { name: 'Sign in in a new tab' }).click(),
  ]);
  await handsOn(() => tab).signIn('Cleo');
  await handsOn(() => tab).arrive('Cleo');
  await tab.close();
  await click('Continue');
  await page.getByText('Check the form, and press its button once more.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Your review' }).inputValue()).toBe(text);
  await click('Publish');
  await arrive('Blue Train');
  const [saved] = await page.locator('.verbatim').allTextContents();
  expect(saved).toBe(text);
});

test('a double click and the way back make no second review', async () => {
  const context = await openContext();
  const { page, click, fill, arrive, signIn } = await open(context, form);
  await signIn('Dan');
  await fill('Your review', 'One review, however often it is sent.');
  await page.getByLabel('Language of the text').selectOption('English');
  await page.getByText('Choose another licence').click();
  await page.getByLabel('CC0 1.0').check();
  await page.getByRole('button', { name: 'Publish' }).dblclick();
  await arrive('Blue Train');
  const review = page.url();
  await page.goBack();
  await arrive('Edit your review: Blue Train');
  expect(page.url()).toBe(`${review}/edit`);
  await click('Save');
  await arrive('Blue Train');
  expect(page.url()).toBe(review);
});

test('another site cannot send the form', async () => {
  const context = await openContext();
  const { page, arrive, signIn } = await open(context, form);
  await signIn('Eve');
  await arrive('Write a review: Blue Train');
  // Another port of our host is the same site, so that the session comes along.
  const attacker = 'http://localhost:1/';
  const fields = { text: 'Bought by somebody else, not by me.', language: 'en' };
  const inputs = Object.entries({ ...fields, license_choice: 'CC0 1.0' }).map(
    ([name, value]) => `<input name="${name}" value="${value}">`,
  );
  const body = `<form method="post" action="${form}">${inputs.join('')}<button>Win</button></form>`;
  await page.route(attacker, (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(attacker);
  await page.getByRole('button', { name: 'Win' }).click();
  await arrive(/Please try again|You are signed out/);
  expect(await page.getByText('Bought by somebody else').count()).toBe(0);
  await page.goto(form);
  await arrive('Write a review: Blue Train');
});
