import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { launchBrowser } from '../helpers/chromium.ts';
import { complaintsOn, everything, handsOn, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { url, authUrl } = await startTestStack();
const { makeGrant, makeUser, reviewBody } = await import('../helpers/fixtures.ts');

/** Opens the reference. Returns the browser’s complaints and its requests. */
async function open(width: number, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  const complaints = complaintsOn(page);
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(request.url()));
  const visit = async () => {
    await page.goto(`${authUrl}/docs/api`);
    await page.getByRole('heading', { name: /^Review service/ }).waitFor();
  };
  await visit();
  const hands = handsOn(() => page);
  return { page, asked, complaints, ...hands, visit, close: () => context.close() };
}

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
  const status = answer.status();
  await operation.locator('.live-responses-table').getByText(`${status}`).first().waitFor();
  return { status, body: await answer.json() };
}

const windows = [
  [1280, 'light'],
  [390, 'dark'],
] as const;

test.each(windows)(
  '%d px wide, %s: loads from this service only, and sends requests',
  async (width, scheme) => {
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
    const body = { message: expect.any(String), id: expect.any(String) };
    expect(made).toEqual({ status: 200, body });
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
  },
);

test('scripts of the reference cannot read the session of a signed-in user', async () => {
  const { page, visit, follow, signIn, arrive, close } = await open(1280, 'light');
  await follow('Get a token');
  await signIn('Ben');
  await arrive('Personal access tokens');
  const reach = `fetch('/ws/account/tokens', { credentials: 'include' })
    .then((response) => response.text()).then((text) => text.includes('name="csrf"'), (error) => error.name)`;
  // With the origin of the session, a script could read the page and use its form to make a token.
  await page.goto(`${url}/review/languages`);
  expect(await page.evaluate(reach)).toBe(true);
  await visit();
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
  const { page, visit, follow, signIn, arrive, close } = await open(1280, 'light');
  await follow('your applications');
  await signIn('Cleo');
  await arrive('Your applications');
  await page.goBack();
  await visit();
  await page.getByRole('banner').getByRole('link', { name: 'Reviews' }).click();
  await arrive('Open reviews');
  await follow('Your account');
  await arrive('Cleo');
  expect(page.context().pages()).toHaveLength(1);
  await close();
});

/** Rules that Swagger UI itself breaks: colours, controls within controls, fields and targets. */
const ofSwagger = ['color-contrast', 'nested-interactive', 'select-name', 'target-size'];

test.each(windows)(
  '%d px wide, %s: has no serious accessibility fault beyond Swagger’s own',
  async (width, scheme) => {
    const { page, close } = await open(width, scheme);
    await page.locator('[id$="-create-review"] .opblock-summary-control').click();
    await page.locator('.opblock.is-open .responses-table').first().waitFor();
    const violations = await violationsOn(page, { ...everything, preload: false });
    const serious = violations.filter(({ impact }) => /^(serious|critical)$/.test(`${impact}`));
    expect(serious.length).toBeGreaterThan(0);
    const own = await page.evaluate(`${JSON.stringify(serious)}.filter(({ at }) =>
    !document.querySelector(at).closest('.swagger-ui'))`);
    expect(own).toEqual([]);
    expect(serious.filter(({ id }) => !ofSwagger.includes(id))).toEqual([]);
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
