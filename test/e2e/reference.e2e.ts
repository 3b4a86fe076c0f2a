import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startTestStack } from '../stack.ts';
import { launchBrowser } from './browser.ts';

const browser = await launchBrowser();
const { url, authUrl } = await startTestStack();

// The stack has set what these read.
const { makeGrant, makeUser } = await import('../fixtures.ts');

/** Opens the reference, and gives what the browser complains of and what it asks for. */
async function open(width: number, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(request.url()));
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    const isIcon = message.location().url.endsWith('/favicon.ico');
    if (!isIcon && message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${authUrl}/docs`);
  await page.getByRole('heading', { name: 'Review service', level: 1 }).waitFor();
  return { page, asked, complaints, close: () => context.close() };
}

/** Sends a request from the page, and gives what is shown of the answer. */
async function tryProfile(page: Page, token: string): Promise<string> {
  await page.getByPlaceholder('Token').first().fill(token);
  await page.goto(`${authUrl}/docs#tag/own-account/GET/user/me`);
  await page.getByRole('button', { name: /Test Request.*get \/user\/me\)/i }).click();
  const answer = page.waitForResponse(`${url}/user/me`);
  await page.getByRole('button', { name: /^Send/ }).first().click();
  await page
    .getByText(/200\s*OK/)
    .first()
    .waitFor();
  return (await answer).text();
}

test.each<[number, 'light' | 'dark']>([
  [1280, 'light'],
  [390, 'dark'],
])(
  '%d px wide, %s: read, and tried with a token, from this service alone',
  async (width, scheme) => {
    const ann = await makeUser({ display_name: 'Ann' });
    const { access_token } = await makeGrant(ann, ['review']);
    const { page, asked, complaints, close } = await open(width, scheme);
    expect(JSON.parse(await tryProfile(page, access_token)).user.display_name).toBe('Ann');
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect([...asked].map((each) => each.replace(/#.*/, '')).sort()).toEqual(
      [
        `${authUrl}/docs`,
        `${authUrl}/docs/scalar-1.72.1.js`,
        `${url}/openapi.json`,
        `${url}/user/me`,
      ].sort(),
    );
    expect(complaints).toEqual([]);
    await close();
  },
);

test('an operation is found by a search, with samples for curl, JavaScript and Python', async () => {
  const { page, close } = await open(1280, 'light');
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  await page.getByRole('combobox').fill('spam');
  await page
    .getByRole('option', { name: /Report a review/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'Report a review' }).waitFor();
  const operation = page.getByRole('region', { name: 'Report a review' });
  for (const [client, code] of [
    ['Curl', 'curl http'],
    ['Fetch', 'fetch('],
    ['Requests', 'requests.post('],
  ] as const) {
    await operation.getByRole('button', { name: /^(Shell|JavaScript|Node.js|Python) / }).click();
    await page.getByRole('option', { name: client, exact: true }).first().click();
    await operation.locator('pre').filter({ hasText: code }).waitFor();
  }
  await close();
});

test('without JavaScript there is a list of the endpoints', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${authUrl}/docs`);
  const lines = await page.locator('noscript li').allTextContents();
  expect(lines).toContain('POST /ws/1/review Publish a review');
  expect(lines.length).toBeGreaterThan(20);
  await context.close();
});
