import { expect, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { url, authUrl } = await startTestStack();

// Imported after the stack, which sets the environment that they read.
const { makeGrant, makeUser, reviewBody } = await import('../helpers/fixtures.ts');

/** Opens the reference. Returns the browser’s complaints and its requests. */
async function open(width: number, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(request.url()));
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${authUrl}/docs/api`);
  await arrive(page);
  return { page, asked, complaints, close: () => context.close() };
}

const arrive = (page: Page) => page.getByRole('heading', { name: /^Review service/ }).waitFor();

/** Types a token into the dialog, as a person does. */
async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('heading', { name: 'bearer' }).waitFor();
  expect(await dialog.getByRole('heading', { name: 'oauth2' }).count()).toBe(0);
  const form = dialog.locator('form').filter({ hasText: 'bearer' });
  await form.getByRole('textbox').fill(token);
  await form.getByRole('textbox').press('Enter');
  await form.getByText('******').waitFor();
  await form.getByRole('button', { name: 'Close' }).click();
}

/** Sends a request from the page. Returns the response and the text shown. */
async function execute(page: Page, id: string, fill?: (operation: Locator) => Promise<void>) {
  const operation = page.locator(`[id$="-${id}"]`);
  await operation.locator('.opblock-summary-control').first().click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await fill?.(operation);
  const answered = page.waitForResponse(
    (response) => response.url().startsWith(url) && response.request().method() !== 'OPTIONS',
  );
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = await answered;
  await operation
    .locator('.live-responses-table')
    .getByText(`${answer.status()}`)
    .first()
    .waitFor();
  return { status: answer.status(), body: await answer.json() };
}

test.each<[number, 'light' | 'dark']>([
  [1280, 'light'],
  [390, 'dark'],
])('%d px wide, %s: loads from this service only, and sends requests', async (width, scheme) => {
  const ann = await makeUser({ display_name: 'Ann' });
  const { access_token } = await makeGrant(ann, ['review']);
  const { page, asked, complaints, close } = await open(width, scheme);
  await authorize(page, access_token);
  const me = await execute(page, 'get-me');
  expect(me).toMatchObject({ status: 200, body: { user: { display_name: 'Ann' } } });
  const sent = JSON.stringify(reviewBody());
  const made = await execute(page, 'create-review', (operation) =>
    operation.locator('.body-param__text').fill(sent),
  );
  expect(made).toEqual({
    status: 200,
    body: { message: expect.any(String), id: expect.any(String) },
  });
  const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  expect([...asked].map((each) => each.replace(/#.*/, '')).sort()).toEqual(
    [
      `${authUrl}/docs/api`,
      `${authUrl}/docs/api/swagger-ui-5.35.0.css`,
      `${authUrl}/docs/api/swagger-ui-5.35.0.js`,
      `${url}/openapi.json`,
      `${url}/review`,
      `${url}/user/me`,
    ].sort(),
  );
  expect(complaints).toEqual([]);
  await close();
});

test('scripts of the reference cannot read the session of a signed-in user', async () => {
  const { page, close } = await open(1280, 'light');
  await page.getByRole('link', { name: 'Get a token' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Ben');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Personal access tokens' }).waitFor();
  const reach = `fetch('/ws/account/tokens', { credentials: 'include' })
    .then((response) => response.text()).then((text) => text.includes('name="csrf"'), (error) => error.name)`;
  // With the origin of the session, a script could read the page and use its form to make a token.
  await page.goto(`${url}/review/languages`);
  expect(await page.evaluate(reach)).toBe(true);
  await page.goto(`${authUrl}/docs/api`);
  await arrive(page);
  expect(await page.evaluate(reach)).toBe('TypeError');
  expect(await page.evaluate('origin')).toBe('null');
  // A window that the script opens does not help either.
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.evaluate(`void (globalThis.other = open('/ws/account/tokens'))`),
  ]);
  await popup.waitForLoadState();
  const read = `(() => { try { return other.document.title; } catch (error) { return error.name; } })()`;
  expect(await page.evaluate(read)).toBe('SecurityError');
  await close();
});

test('its links open in this window, signed in', async () => {
  const { page, close } = await open(1280, 'light');
  await page.getByRole('link', { name: 'your applications' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Cleo');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Your applications' }).waitFor();
  await page.goBack();
  await page.goto(`${authUrl}/docs/api`);
  await page.getByRole('banner').getByRole('link', { name: 'Reviews' }).click();
  await page.getByRole('heading', { name: 'Open reviews' }).waitFor();
  await page.getByRole('link', { name: 'Your account' }).click();
  await page.getByRole('heading', { name: 'Cleo' }).waitFor();
  expect(page.context().pages()).toHaveLength(1);
  await close();
});

/** Rules that Swagger UI itself breaks: colours, controls within controls, fields and targets. */
const ofSwagger = ['color-contrast', 'nested-interactive', 'select-name', 'target-size'];

test.each<[number, 'light' | 'dark']>([
  [1280, 'light'],
  [390, 'dark'],
])(
  '%d px wide, %s: has no serious accessibility fault beyond Swagger’s own',
  async (width, scheme) => {
    const { page, close } = await open(width, scheme);
    await page.locator('[id$="-create-review"] .opblock-summary-control').click();
    await page.locator('.opblock.is-open .responses-table').first().waitFor();
    await page.evaluate(axe.source);
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const options = { runOnly: tags, rules: { 'target-size': { enabled: true } }, preload: false };
    const { violations } = (await page.evaluate(
      `axe.run(${JSON.stringify(options)})`,
    )) as AxeResults;
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
    expect(serious.length).toBeGreaterThan(0);
    const own = await page.evaluate(`${JSON.stringify(serious)}.filter((each) =>
    !document.querySelector(each.replace(/^[^:]*: /, '')).closest('.swagger-ui'))`);
    expect(own).toEqual([]);
    const rules = new Set(serious.map((each) => each.replace(/:.*/, '')));
    expect([...rules].filter((rule) => !ofSwagger.includes(rule))).toEqual([]);
    await close();
  },
);

test('lists the endpoints without JavaScript', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${authUrl}/docs/api`);
  const lines = await page.locator('noscript li').allTextContents();
  expect(lines).toContain('POST /ws/1/review Publish a review');
  expect(lines.length).toBeGreaterThan(20);
  await context.close();
});
