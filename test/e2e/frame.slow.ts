import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { newFolder } from '../helpers/folder.ts';
import { handsOn, violationsOn } from '../helpers/page.ts';
import { visitedPages } from '../helpers/routes.ts';
import { startTestStack } from '../helpers/stack.ts';

const folder = newFolder();
writeFileSync(
  join(folder, `rules${'.md'}`),
  '# Our rules\n\nBe kind.\n\n## Stars\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
);
writeFileSync(join(folder, `privacy${'.md'}`), '# Privacy\n\nWhat is stored.\n');
const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>document.title = "x"</script><circle cx="4" cy="4" r="4" fill="#7a1f5c"/></svg>';
writeFileSync(join(folder, 'logo.svg'), logo);
Object.assign(process.env, {
  SITE_NAME: 'The vinyl and paperback circle of Leeds',
  SITE_TEXT: 'Nine friends write about every record.',
  SITE_CONTACT: 'ann@example.org',
  SITE_ACCENT: '#7a1f5c',
  SITE_FOLDER: folder,
});
const browser = await launchBrowser();
const { authUrl: at } = await startTestStack();
const { makeScene, pathOf } = await import('../helpers/samples.ts');
const { scene } = await makeScene();

let page: Page;
beforeEach(async () => {
  page = await browser.newPage({ bypassCSP: true });
});
afterEach(() => page.close());
const { signOut, arrive } = handsOn(() => page);

const overflow = () =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
const leftOf = async (selector: string) => (await page.locator(selector).boundingBox())?.x;
const paths = visitedPages.map((route) => pathOf(route, scene));

test('a site of its own is for everybody, in its colours, in two widths and both schemes', async () => {
  for (const path of paths) {
    await page.goto(at + path);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect([path, width, colorScheme, await violationsOn(page)]).toEqual([
          path,
          width,
          colorScheme,
          [],
        ]);
      }
      expect([path, width, await overflow()]).toEqual([path, width, 0]);
    }
  }
  const { naturalWidth } = await page.locator('header .mark').evaluate((image) => {
    const { naturalWidth } = image as unknown as { naturalWidth: number };
    return { naturalWidth };
  });
  expect(naturalWidth).toBeGreaterThan(0);
});

test('the logo runs no script, even if it is opened alone', async () => {
  const alone = await browser.newPage();
  const answer = await alone.goto(`${at}/logo`);
  expect(answer?.headers()['content-type']).toBe('image/svg+xml');
  expect(await alone.title()).not.toBe('x');
  await alone.close();
});

test('the header stands at one place on every page, and the footer at the end of a short one', async () => {
  await page.setViewportSize({ width: 1280, height: 1000 });
  const places = new Set<number | undefined>();
  for (const path of paths) {
    await page.goto(at + path);
    places.add(await leftOf('.brand'));
    const { y = 0, height = 0 } = (await page.locator('footer').boundingBox()) ?? {};
    expect(y + height).toBeGreaterThanOrEqual(1000);
  }
  expect(places.size).toBe(1);
});

test('the keyboard reaches the content at the second stop', async () => {
  await page.goto(`${at}/reviews`);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
});

test('text follows the font size of the reader, and twice as large still fits', async () => {
  await page.goto(at);
  await page.addStyleTag({ content: 'html { font-size: 200% }' });
  for (const path of paths) {
    await page.goto(at + path);
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect([path, width, await overflow()]).toEqual([path, width, 0]);
    }
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe('32px');
  }
});

test('lines have at most 75 characters', async () => {
  await page.setViewportSize({ width: 1280, height: 1000 });
  await page.goto(`${at}/review/${scene.review_id}`);
  for (const selector of ['.review', 'main p']) {
    const characters = await page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { width } = element.getBoundingClientRect();
        const span = element.ownerDocument.createElement('span');
        span.textContent = 'The quick brown fox jumps over the lazy dog and goes home again';
        span.style.whiteSpace = 'nowrap';
        element.append(span);
        const each = span.getBoundingClientRect().width / span.textContent.length;
        span.remove();
        return width / each;
      });
    expect([selector, characters <= 76, characters >= 60]).toEqual([selector, true, true]);
  }
});

test('forced colours keep the current page and the main button apart', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(`${at}/reviews`);
  const look = (selector: string, property: string) =>
    page
      .locator(selector)
      .first()
      .evaluate(
        (element, name) =>
          element.ownerDocument.defaultView?.getComputedStyle(element).getPropertyValue(name),
        property,
      );
  expect(await look('header nav a[aria-current]', 'text-decoration-line')).toBe('underline');
  expect(await look('.brand', 'text-decoration-line')).toBe('none');
  const ground = 'background-color';
  expect(await look('.write', ground)).not.toBe(await look('.filters button', ground));
});

test('the account has a menu without script, also on the guides', async () => {
  const plain = await browser.newPage({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  });
  const hands = handsOn(() => plain);
  await plain.goto(`${at}/account`);
  await hands.signIn('Ann');
  await plain.goto(`${at}/docs/oauth`);
  await hands.choose('Your reviews');
  await hands.arrive('Your reviews');
  await plain.locator('header summary').click();
  const menu = await plain.locator('header details div').boundingBox();
  expect(menu?.x).toBeGreaterThanOrEqual(0);
  expect((menu?.x ?? 0) + (menu?.width ?? 400)).toBeLessThanOrEqual(390);
  await plain.getByRole('button', { name: 'Sign out' }).click();
  await hands.arrive('You are signed out');
  await plain.close();
  // A person who is new is shown the rules before the first word.
  await page.goto(`${at}/account/reviews`);
  await arrive('Development sign-in');
  await page.getByLabel('Name').fill('Bea');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await arrive('Choose your public name');
  await page.getByRole('main').getByRole('link', { name: 'Our rules' }).click();
  await arrive('Our rules');
  await page.goto(`${at}/account/reviews`);
  await signOut();
});
