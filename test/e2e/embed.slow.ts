import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { serve } from '../helpers/listen.ts';
import { startTestStack } from '../helpers/stack.ts';

const entity_id = randomUUID();
const browser = await launchBrowser();
const { authUrl: at } = await startTestStack();
const { nameEntities } = await import('../helpers/names.ts');
await nameEntities({ [entity_id]: 'Blue </script><script>document.title = "owned"</script>' });
const { makeUser } = await import('../helpers/world.ts');

/** Another site, whose page holds the HTML that was set last. */
let content = '';
const site = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end(`<!doctype html><title>Another site</title>${content}`);
});
const siteUrl = `${await serve(site)}/`;
const text = '</script><script>document.title = "owned"</script> <!-- <script> and more of it';
const review_id = await (await makeUser()).publishes({ entity_id, text, language: 'en' });

/** A page, and what the browser reports while it is open: faults, refusals, requests elsewhere. */
async function open(url: string): Promise<{ page: Page; reports: string[] }> {
  const page = await browser.newPage();
  const reports: string[] = [];
  page.on('console', (message) => reports.push(message.text()));
  page.on('pageerror', (error) => reports.push(error.message));
  await page.goto(url);
  return { page, reports };
}

test('the code on the page of an entity shows its stars on another site, in both schemes', async () => {
  const { page: ours } = await open(`${at}/entity/${entity_id}`);
  await ours.getByText('Show the stars on your website').click();
  content = (await ours.locator('details code.copy').textContent()) ?? '';
  await ours.close();
  const { page, reports } = await open(siteUrl);
  const frame = page.frameLocator('iframe');
  await frame.getByText('1 review').waitFor();
  await frame.getByRole('img', { name: '4 of 5 stars' }).waitFor();
  expect(await page.locator('iframe').boundingBox()).toMatchObject({ width: 320, height: 120 });
  const grounds: unknown[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const inside = page.frames()[1];
    grounds.push(await inside?.evaluate('getComputedStyle(document.body).backgroundColor'));
    const size = '((root) => [root.scrollWidth, root.scrollHeight])(document.documentElement)';
    expect(await inside?.evaluate(size)).toEqual([320, 120]);
  }
  expect(grounds[0]).not.toBe(grounds[1]);
  await frame.getByRole('link').click();
  await page.waitForURL(`${at}/entity/${entity_id}`);
  expect(reports).toEqual([]);
  await page.close();
});

test('a site that is given the address finds the same frame by oEmbed', async () => {
  const { page } = await open(`${at}/entity/${entity_id}`);
  const oembed = await page.locator('link[type="application/json+oembed"]').getAttribute('href');
  const answer = await (await fetch(oembed ?? '')).json();
  expect(answer).toMatchObject({ type: 'rich', version: '1.0', html: content });
  await page.close();
});

test('no other page lets itself be framed', async () => {
  for (const path of [`/entity/${entity_id}`, `/review/${review_id}`, '/']) {
    content = `<iframe src="${at}${path}"></iframe>`;
    const { page, reports } = await open(siteUrl);
    expect(reports.join()).toMatch(/frame-ancestors 'none'|X-Frame-Options/);
    expect(await page.frameLocator('iframe').locator('.brand').count()).toBe(0);
    await page.close();
  }
});

test.each([
  ['review', review_id],
  ['entity', entity_id],
])('the browser runs nothing on the page of a %s, and reports nothing', async (kind, id) => {
  const { page, reports } = await open(`${at}/${kind}/${id}`);
  expect(await page.title()).not.toBe('owned');
  const data = (await page.locator('script').textContent()) ?? '';
  expect(JSON.parse(data)['@context']).toBe('https://schema.org');
  expect(reports).toEqual([]);
  await page.close();
});
