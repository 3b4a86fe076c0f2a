import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { complaintsOn, handsOn, violationsOn } from '../helpers/page.ts';
import { fresh, start } from '../helpers/service.ts';

const browser = await launchBrowser();
const origin = (url: string) => new URL('.', url).href.replace(/\/$/, '');

let page: Page;
beforeEach(async () => {
  // Axe is a script. The pages have none, so they work without.
  page = await browser.newPage({ bypassCSP: true });
});
afterEach(() => page.close());

const { follow, fill, arrive } = handsOn(() => page);
const headings = (level: number) => page.getByRole('heading', { level }).allTextContents();

/** Moves the focus by the keyboard to what has this name, and presses a key there. */
async function press(name: string, key = 'Enter'): Promise<void> {
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(
      `(({ activeElement: { labels, textContent } }) => labels?.[0]?.textContent ?? textContent)(document)`,
    );
    if (focused === name) return page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach ${name} on ${page.url()}`);
}

/** Place of the first column of the page: above the second one, or beside it. */
const columns = () =>
  page.evaluate(`(() => {
    const placeOf = (nth) =>
      document.querySelector('.columns > :nth-child(' + nth + ')').getBoundingClientRect();
    const first = placeOf(1);
    const second = placeOf(2);
    if (first.bottom <= second.top) return 'above';
    return first.right <= second.left && first.top === second.top ? 'beside' : 'over';
  })()`);

async function expectAccessible(): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    expect([page.url(), await violationsOn(page)]).toEqual([page.url(), []]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  }
}

describe('somebody who looks around', () => {
  test('in an empty service is led from the front page to the first review', async () => {
    const { url } = await start(fresh('empty'), { options: ['--memory'] });
    const complaints = complaintsOn(page);
    await page.goto(`${origin(url)}/reviews`);
    await page.getByText('Nobody has written a review yet.').waitFor();
    await expectAccessible();
    await page.goto(origin(url));
    await expectAccessible();
    await follow('Write the first review');
    await arrive('Find something to review');
    await expectAccessible();
    await fill('Name', 'Abbey Road');
    await page.keyboard.press('Enter');
    await page.getByText('0 results for “Abbey Road”').waitFor();
    await expectAccessible();
    const id = '9162580e-5df4-32de-80cc-f45a8d8a9b1d';
    await page.getByText('Add it by its address').waitFor();
    await expectAccessible();
    await page
      .getByRole('searchbox', { name: 'Search by name' })
      .fill(`musicbrainz.org/release-group/${id}`);
    await page.keyboard.press('Enter');
    await page.getByText('Nobody has reviewed this yet.').waitFor();
    await expectAccessible();
    const link = page.getByRole('main').getByRole('link', { name: 'Write a review' });
    const target = new URL((await link.getAttribute('href')) ?? '');
    expect(target.pathname).toBe('/ws/review/new');
    expect(Object.fromEntries(target.searchParams)).toEqual({
      entity_id: id,
      entity_type: 'release_group',
    });
    expect(complaints).toEqual([]);
  });

  test('in the demo finds by name, and walks, filters and sorts all reviews by keyboard', async () => {
    const { url } = await start(fresh('demo'), {
      options: ['--demo', '--memory'],
      until: /^The demo is complete/,
    });
    await page.goto(origin(url));
    await page.getByRole('heading', { name: 'What people talk about' }).waitFor();
    await expectAccessible();
    // Six things, and five reviews, one of which is quoted.
    expect((await headings(3)).length).toBeGreaterThan(6);
    await page.locator('blockquote').waitFor();
    expect(await headings(4)).toHaveLength(4);
    await press('Write a review');
    await arrive('Find something to review');
    await press('Name', 'o');
    await page.keyboard.type('k COMPUTER');
    await page.keyboard.press('Enter');
    await page.getByText('1 result for “ok COMPUTER”').waitFor();
    await expectAccessible();
    await press('OK Computer');
    await arrive('OK Computer');

    await page.goto(`${origin(url)}/reviews`);
    await page.getByText('200 reviews').waitFor();
    await expectAccessible();
    await press('Next page');
    for (let i = 0; i < 8; i++) await follow('Next page');
    await page.waitForFunction(`!document.querySelector('[rel=next]')`);
    expect(await headings(4)).toHaveLength(20);

    await page.goto(`${origin(url)}/reviews`);
    // A phone folds the filters.
    await press('Filter');
    await page.getByLabel('Type').selectOption({ label: 'All books' });
    await page.getByLabel('Language').selectOption({ label: 'German' });
    await press('Filter reviews');
    await page.getByRole('heading', { name: / of books in German$/ }).waitFor();
    await follow('Most popular');
    await page.waitForURL(/popularity$/);
    expect(new URL(page.url()).search).toBe('?entity_type=bookdb&language=de&sort=popularity');
    expect(await page.getByLabel('Language').inputValue()).toBe('de');
    await expectAccessible();
    await follow('Show all reviews');
    await page.getByText('200 reviews').waitFor();

    const author = await page.locator('.person').first().getAttribute('href');
    for (const address of [`${origin(url)}/reviews`, `${author}`]) {
      await page.goto(address);
      await page.setViewportSize({ width: 900, height: 800 });
      expect([address, await columns()]).toEqual([address, 'beside']);
      await page.setViewportSize({ width: 390, height: 844 });
      expect([address, await columns()]).toEqual([address, 'above']);
      const entry = await page.locator('main li h3').first().boundingBox();
      expect([address, (entry?.y ?? 844) < 700]).toEqual([address, true]);
    }
  });
});
