import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { complaintsOn, handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { authUrl: at } = await startTestStack();
const { makeUser, makeUsers } = await import('../helpers/world.ts');

let page: Page;
let complaints: string[];
beforeEach(async () => {
  page = await browser.newPage({ javaScriptEnabled: false });
  complaints = complaintsOn(page);
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await page.close();
});

const { arrive, click, hear, signIn, signOut } = handsOn(() => page);
const votes = () => page.locator('#vote').innerText();

async function popularityOf(id: string): Promise<number> {
  const response = await fetch(`${at}/1/review/${id}`);
  const body = (await response.json()) as { review: { popularity: number } };
  return body.review.popularity;
}

/** Presses the Tab key until the element with this name has the focus, then Enter. */
async function press(name: string | RegExp): Promise<void> {
  const wanted = page.getByRole('button', { name }).or(page.getByRole('link', { name })).first();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) break;
  }
  await page.keyboard.press('Enter');
}

test('a person signs in on the way, and casts a vote by keys alone', async () => {
  const author = await makeUser({ display_name: 'Zoë' });
  const id = await author.publishes();
  await page.goto(`${at}/review/${id}`);
  expect(await votes()).toMatch(/Yes 0[\s\S]*No 0[\s\S]*so you sign in first/);
  await press(/^Yes/);
  await signIn('Ben');
  await arrive('Was this review helpful?');
  // Nothing is cast by the address alone, nor by a key that is held while the page opens.
  await page.keyboard.press('Enter');
  expect(await popularityOf(id)).toBe(0);
  await press(/^Yes/);
  await hear('Your vote is counted.');
  expect(page.url()).toBe(`${at}/review/${id}#vote`);
  expect(await votes()).toMatch(/Yes 1 · No 0[\s\S]*You said yes\.[\s\S]*on 9 more reviews today/);
  await press(/^No/);
  await page.getByText('You said no.').waitFor();
  expect(await votes()).toContain('Yes 0 · No 1');
  await press('Take back');
  await hear('Your vote is taken back.');
  expect(await votes()).toMatch(/Yes 0[\s\S]*No 0/);
  await page.reload();
  expect(await page.getByRole('status').count()).toBe(0);
  await signOut();
  await arrive('You are signed out');
  await page.goto(`${at}/review/${id}`);
  expect(await votes()).toContain('so you sign in first');
});

test('the copied text of a list has names without the letters of their tiles', async () => {
  const author = await makeUser({ display_name: 'Zora N.' });
  await author.publishes();
  await page.goto(`${at}/user/${author.id}`);
  expect(await page.locator('.tile text').first().textContent()).toBe('Z');
  await page.keyboard.press('Control+A');
  const copied = await page
    .locator('body')
    .evaluate(({ ownerDocument }) => String(ownerDocument.defaultView?.getSelection()));
  expect(copied).toContain('Zora N.');
  expect(copied).not.toMatch(/Z\s*Zora/);
});

test('a vote in a list returns to its place in the list', async () => {
  const entity_id = randomUUID();
  const authors = await makeUsers(6);
  for (const each of authors) await each.publishes({ entity_id });
  await page.goto(`${at}/entity/${entity_id}?language=en`);
  await page.getByRole('link', { name: 'Sign in', exact: true }).click();
  await signIn('Cleo');
  await page.getByText('6 reviews in English').waitFor();
  expect(page.url()).toBe(`${at}/entity/${entity_id}?language=en`);
  await page.setViewportSize({ width: 390, height: 600 });
  const entry = page.locator('li[id]').nth(2);
  const place = await entry.getAttribute('id');
  await entry.getByRole('button', { name: /^No/ }).click();
  await hear('Your vote is counted.');
  expect(page.url()).toBe(`${at}/entity/${entity_id}?language=en#${place}`);
  // Both the notice and the entry are in the window, and neither covers the other.
  const { y = -1, height = 0 } = (await page.getByRole('status').boundingBox()) ?? {};
  const { y: below = -1 } = (await page.locator(`#${place}`).boundingBox()) ?? {};
  expect([y >= 0, y + height <= below, below < 600]).toEqual([true, true, true]);
  expect(await page.locator(`#${place}`).innerText()).toContain('You said no.');
  expect(await page.getByRole('button', { name: /^Yes/ }).count()).toBe(4);
  await page.locator('li[id]').nth(5).getByRole('link', { name: /^Yes/ }).click();
  await page.locator('#vote').waitFor();
  await click('Yes 0');
  await hear('Your vote is counted.');
});

test('a session that ended leads through sign-in to the same vote', async () => {
  const id = await (await makeUser()).publishes();
  await page.goto(`${at}/review/${id}/vote`);
  await signIn('Dan');
  await arrive('Was this review helpful?');
  await page.context().clearCookies();
  // The page says 401, of which the browser's console tells.
  await click('No 0');
  await arrive('You are signed out');
  complaints.length = 0;
  await page.getByRole('link', { name: 'Sign in' }).last().click();
  await signIn('Dan');
  await arrive('Was this review helpful?');
  expect(await page.getByRole('button', { name: /^(Yes|No) / }).allInnerTexts()).toEqual(['No 0']);
  await click('No 0');
  await hear('Your vote is counted.');
});

test('another site can cast no vote', async () => {
  const id = await (await makeUser()).publishes();
  await page.goto(`${at}/review/${id}/vote`);
  await signIn('Eve');
  await arrive('Was this review helpful?');
  await page.route('https://evil.example/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="${at}/review/${id}/vote?vote=up"><button>Win a prize</button></form>`,
    }),
  );
  await page.goto('https://evil.example/');
  await click('Win a prize');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(page.url()).toBe(`${at}/review/${id}/vote?vote=up`);
  expect(await popularityOf(id)).toBe(0);
  complaints.length = 0;
});
