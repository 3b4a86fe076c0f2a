import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { guides } from '../../shared/guides.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { nameEntities } from '../helpers/names.ts';
import { startTestStack } from '../helpers/stack.ts';

jest.spyOn(console, 'warn').mockImplementation(() => {});
const [named, unnamed] = [randomUUID(), randomUUID()];
const longName = `${'Donaudampfschifffahrtsgesellschaft'.repeat(3)} & other songs`;
nameEntities({ [named]: longName });
const browser = await launchBrowser();
const { url, authUrl: at } = await startTestStack();
const redirect_uri = 'http://localhost:1/callback';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/**
 * Rules whose results depend on widths and colours. axe checks the second only if asked: 24 pixels
 * (WCAG 2.2, 2.5.8).
 */
const visible = ['color-contrast', 'target-size', 'scrollable-region-focusable'];
const everything = { runOnly: tags, rules: { 'target-size': { enabled: true } } };
const looksOnly = { runOnly: { type: 'rule', values: visible } };

/** Violations that axe finds on a page where it is loaded. */
async function violationsOn(page: Page, options: object = everything): Promise<string[]> {
  const { violations } = (await page.evaluate(
    `axe.run({ ...${JSON.stringify(options)}, resultTypes: ['violations'] })`,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  );
}

/**
 * Lowest contrast between the edge of a field and its surroundings, which axe does not check (WCAG
 * 1.4.11).
 */
function edgeContrast(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const channel = (value) =>
      value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const luminance = (color) => {
      const [r, g, b] = color.match(/[\\d.]+/g).map((value) => channel(value / 255));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (...colors) => {
      const [light, dark] = colors.map(luminance).sort((a, b) => b - a);
      return (light + 0.05) / (dark + 0.05);
    };
    const fields = [...document.querySelectorAll('input[type=text], input[type=email], input[type=url], textarea')];
    return Math.min(21, ...fields.flatMap((field) => {
      const { borderTopColor: edge, backgroundColor: within } = getComputedStyle(field);
      const around = getComputedStyle(field.closest('section')).backgroundColor;
      return [contrast(edge, within), contrast(edge, around)];
    }));
  })()`);
}

let page: Page;
beforeEach(async () => {
  // Only here: axe is a script, and the pages allow none.
  page = await browser.newPage({ bypassCSP: true });
});
afterEach(() => page.close());

const seen: string[] = [];
const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
const follow = (name: string) => page.getByRole('link', { name, exact: true }).click();
const fill = (name: string, text: string) =>
  page.getByRole('textbox', { name, exact: true }).fill(text);
const arrive = (name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const alerted = () => page.getByRole('alert').waitFor();

/** Looks at the page in these widths, and in both colour schemes. */
async function look(widths: readonly number[] = [1280, 390]): Promise<void> {
  seen.push(`${await page.title()} ${new URL(page.url()).pathname}`);
  await page.evaluate(axe.source);
  let options: object = everything;
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const where = `${seen.at(-1)}, ${width} ${colorScheme}`;
      expect([where, await violationsOn(page, options)]).toEqual([where, []]);
      options = looksOnly;
      expect([where, (await edgeContrast(page)) >= 3]).toEqual([where, true]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  }
}

async function signIn(name: string): Promise<void> {
  await arrive('Development sign-in');
  await fill('Name', name);
  await click('Sign in');
}

function authorize(client_id: string, scope: string, uri = redirect_uri) {
  const query = { response_type: 'code', client_id, redirect_uri: uri, scope };
  return page.goto(`${at}/oauth/authorize?${new URLSearchParams(query)}`);
}

async function register(fields: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) await fill(name, text);
  await click('Register application');
}

test('every page is for everybody, in all widths and both colour schemes', async () => {
  await page.goto(`${at}/`);
  await arrive('Open reviews');
  await look();
  await follow('For developers');
  await arrive('For developers');
  await look();
  await follow('Quickstart');
  for (const { title } of guides) {
    await arrive(title);
    await look();
    const next = page.locator('[rel=next]');
    if (await next.count()) await next.click();
  }
  await page.goto(`${at}/account/connections`);
  await arrive('Development sign-in');
  await look();
  await signIn('Ann');
  await arrive('Connected applications');
  await look();
  await page.goto(`${at}/account/tokens`);
  await arrive('Personal access tokens');
  await look();
  await fill('Name', '\u200b');
  await click('Create token');
  await alerted();
  await look();
  await fill('Name', 'Backup');
  await click('Create token');
  await arrive('Your new token');
  await look();
  await click('I have copied the token');
  await arrive('Personal access tokens');
  await page.getByText('What it may do').click();
  await look();
  await follow('Account');
  await arrive('Ann');
  await look();
  await fill('Public name', '\u200b');
  await click('Save');
  await alerted();
  await look();
  for (const title of ['Your reviews', 'Your votes']) {
    await follow(title);
    await arrive(title);
    await look();
  }
  await follow('Applications');
  await arrive('Your applications');
  await look();
  const shelf = {
    Name: 'Shelf',
    'What it does': 'Shows your reviews',
    Website: 'http://localhost:1/',
  };
  await register({ ...shelf, 'Redirect URI': 'http://client.example/' });
  await alerted();
  await look();
  await register({ 'Redirect URI': redirect_uri });
  await arrive('Shelf');
  await page.getByText('Show secret').click();
  await look();
  const client_id = page.url().split('/').at(-1) ?? '';
  const secret = (await page.locator('details code').textContent()) ?? '';
  await click('Create new secret');
  await page.getByText('The old secret works until').waitFor();
  await look();
  await follow('Applications');
  await arrive('Your applications');
  await look();

  await authorize(client_id, 'review,vote,user');
  await arrive('Let Shelf use your account?');
  await look();
  const answered = await page.locator('form:has([value=approve])').getAttribute('action');
  const form = { client_id, client_secret: secret, redirect_uri, grant_type: 'authorization_code' };
  await page.route(`${redirect_uri}*`, (route) => route.fulfill({ body: 'Back' }));
  await click('Allow');
  await page.waitForURL(`${redirect_uri}*`);
  const code = new URL(page.url()).searchParams.get('code') ?? '';
  const body = new URLSearchParams({ ...form, code });
  expect((await fetch(`${url}/oauth/token`, { method: 'POST', body })).status).toBe(200);
  await authorize(client_id, 'vote');
  await page.getByText('No new access.').waitFor();
  await look();
  await page.goto(`${at}/account/connections`);
  await page.getByText('What it may do').click();
  await look();

  await authorize(client_id, '', `${redirect_uri}/x`);
  await arrive('Shelf was not connected');
  await look();
  await page.goto(answered ?? '');
  await arrive('Please start again');
  await look();
  await page.goto(`${at}/account/connections`);
  await click('Revoke access of Shelf');
  await page.getByRole('status').waitFor();
  await look();
  await page.goto(`${at}/account/applications/${'f'.repeat(32)}`);
  await arrive('Application not found');
  await look();
  await page.goto(`${at}/account/typo`);
  await arrive('Page not found');
  await look();
  await page.goto(`${at}/account/delete`);
  await arrive('Delete your account');
  await look();
  await fill('To confirm, type your name: Ann', 'Bob');
  await click('Delete account');
  await alerted();
  await look();
  await page.goto(`${at}/account`);
  await arrive('Ann');
  await page.context().clearCookies();
  await click('Save');
  await arrive('You are signed out');
  await look();
  await follow('Sign in');
  await signIn('Ann');
  await arrive('Ann');
  await page.goto(`${at}/account/sign-out`);
  await arrive('Sign out?');
  await look();
  await click('Sign out');
  await arrive('You are signed out');
  await look();
  await authorize(client_id, '');
  await arrive('Development sign-in');
  await click('Cancel');
  await arrive('You are not signed in');
  await look();
  await page.goto(`${at}/account/delete`);
  await signIn('Ann');
  await arrive('Delete your account');
  await fill('To confirm, type your name: Ann', 'Ann');
  await click('Delete account');
  await arrive('Your account was deleted');
  await look();
  expect(seen).toHaveLength(42);
});

test('a mistake is seen', async () => {
  await page.goto(`${at}/account`);
  await arrive('Development sign-in');
  await page.addStyleTag({ content: ':root { --field: #d9dde5; --soft: #999; }' });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(axe.source);
  expect(await edgeContrast(page)).toBeLessThan(1.5);
  await page.evaluate(
    `document.querySelector('main').innerHTML += '<p class="soft">Hard to read</p><a href="#">a</a><a href="#">b</a>'`,
  );
  await page.addStyleTag({ content: 'main a { display: block; height: 8px; line-height: 8px; }' });
  for (const options of [everything, looksOnly]) {
    const found = (await violationsOn(page, options)).map((text) => text.split(':')[0]);
    expect([...new Set(found)].toSorted()).toEqual(['color-contrast', 'target-size']);
  }
});

test('consent cannot be clicked before it is seen', async () => {
  await page.goto(`${at}/account/applications`);
  await signIn('Ben');
  await arrive('Your applications');
  await register({ Name: 'Shelf', Website: 'http://localhost:1/', 'Redirect URI': redirect_uri });
  await arrive('Shelf');
  await authorize(page.url().split('/').at(-1) ?? '', '');
  await arrive('Let Shelf use your account?');
  // The second click of two, of which the first has opened this page, comes within half a second.
  const reacts = await page.evaluate(`[0, 500, 700].map((time) => {
    const [animation] = document.getAnimations();
    animation.currentTime = time;
    return getComputedStyle(animation.effect.target).pointerEvents;
  })`);
  expect(reacts).toEqual(['none', 'none', 'auto']);
});

test('every public page is for everybody, in four widths and both colour schemes', async () => {
  const [review, entity, user] = await publish();
  for (const [path, heading] of [
    [`/review/${review}`, longName],
    [`/entity/${entity}`, longName],
    [`/entity/${entity}?rating=5&language=ar`, longName],
    [`/entity/${unnamed}`, 'Unnamed literary work'],
    [`/entity/${randomUUID()}`, 'No reviews yet'],
    [`/user/${user}`, 'ليلى'],
    [`/review/${randomUUID()}`, 'Review not found'],
    [`/entity/${entity}?rating=6`, 'That did not work'],
  ] as const) {
    await page.goto(at + path);
    await arrive(heading);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await look([1280, 768, 390, 360]);
  }
  await follow('Open the page again');
  await arrive(longName);
  await page.goto(`${at}/review/${review}/report`);
  await signIn('Reader');
  await arrive('Report a review');
  await look([1280, 768, 390, 360]);
  await page.getByLabel('Off topic').check();
  await click('Report review');
  await arrive('You have reported this review');
  await look([1280, 768, 390, 360]);
});

/**
 * Publishes reviews in several scripts. Returns the ids of one with 5,000 characters, of its entity
 * and of its author.
 */
async function publish(): Promise<[review: string, entity: string, user: string]> {
  const { findOrCreateUser } = await import('../../shared/account/identity-repository.ts');
  const { newReview } = await import('../../shared/review/review.ts');
  const { insertReview } = await import('../../shared/review/review-repository.ts');
  const identity = { issuer: 'https://issuer.example', email: null, musicdb_username: null };
  const [layla, ann] = await Promise.all(
    ['ليلى', 'Ann '.repeat(16)].map((name) =>
      findOrCreateUser({ ...identity, subject: name, display_name: name.trim() }),
    ),
  );
  const base = { license_choice: 'CC BY-SA 4.0', is_draft: false, language: 'en' } as const;
  const arabic = 'أعود إليه كل شتاء ولا أجد فيه إلا ما هو جديد (1997). ';
  const reviews = [
    { ...base, entity_id: named, rating: 5, text: arabic.repeat(90), language: 'ar', by: layla },
    { ...base, entity_id: named, rating: 2, text: `${'w'.repeat(2500)} `.repeat(2), by: ann },
    { ...base, entity_id: unnamed, rating: 1, text: null, by: layla },
  ].map(({ by, ...content }) => {
    const entity_type = content.entity_id === named ? 'release_group' : 'bk_literary_work';
    return newReview(by?.id ?? '', { ...content, entity_type });
  });
  for (const review of reviews) await insertReview(review);
  return [reviews[0]?.id ?? '', named, layla?.id ?? ''];
}
