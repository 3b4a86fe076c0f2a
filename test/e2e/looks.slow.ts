/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { Route } from '../../shared/base/routes.ts';
import { guides } from '../../shared/features/docs/guides.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { everything, handsOn, violationsOn } from '../helpers/page.ts';
import { ownReads, visitedPages } from '../helpers/routes.ts';
import type { Scene } from '../helpers/samples.ts';
import { startTestStack } from '../helpers/stack.ts';
import type { Person } from '../helpers/world.ts';

const named = randomUUID();
const unnamed = randomUUID();
const longest = randomUUID();
const longName = `${'Donaudampfschifffahrtsgesellschaft'.repeat(3)} & other songs`;
const matches = [{ id: named, name: longName, disambiguation: longName }];
const found = encodeURIComponent(JSON.stringify({ matches }));
process.env.MUSICDB_SEARCH = `data:application/json,${found}#{type}{name}`;
const browser = await launchBrowser();
const { url, authUrl: at, stream } = await startTestStack();
const { nameEntities } = await import('../helpers/names.ts');
await nameEntities({ [named]: longName, [longest]: '千と千尋の神隠し'.repeat(15) });
const { makeUser } = await import('../helpers/world.ts');
const { addFilm } = await import('../helpers/things.ts');
const { setAttributes } = await import('../helpers/items.ts');
const { webhookKey } = await import('../../shared/core/keys.ts');
const { startSession } = await import('../../shared/pages/session/session.ts');
const { makeScene, pathOf } = await import('../helpers/samples.ts');
const { reader, scene } = await makeScene();
const redirect_uri = 'http://localhost:1/callback';

/** Rules whose results depend on widths and colours. */
const visible = ['color-contrast', 'target-size', 'scrollable-region-focusable'];
const looksOnly = { runOnly: { type: 'rule', values: visible } };

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
const { click, follow, fill, arrive, signIn, choose } = handsOn(() => page);

/** Looks at the page in these widths, and in both colour schemes. */
async function look(widths: readonly number[] = [1280, 390]): Promise<void> {
  seen.push(`${await page.title()} ${new URL(page.url()).pathname}`);
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
    const scrolled = await page.evaluate('document.documentElement.scrollWidth');
    expect([seen.at(-1), scrolled]).toEqual([seen.at(-1), width]);
  }
}

async function see(heading: string | RegExp, widths?: number[]): Promise<void> {
  await arrive(heading);
  await look(widths);
}

/** Opens the page of a route, which is there. */
async function open(route: Route, about: Scene): Promise<void> {
  const response = await page.goto(at + pathOf(route, about));
  expect([route.path, response?.status()]).toEqual([route.path, 200]);
}

async function visit(path: string, heading: string): Promise<void> {
  await page.goto(at + path);
  await see(heading);
}

async function seeAlert(): Promise<void> {
  await page.getByRole('alert').waitFor();
  await look();
}

function authorize(client_id: string, scope: string, uri = redirect_uri) {
  const query = { response_type: 'code', client_id, redirect_uri: uri, scope };
  return page.goto(`${at}/oauth/authorize?${new URLSearchParams(query)}`);
}

async function register(fields: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) await fill(name, text);
  await click('Register application');
}

test('the journey of an application is for everybody, in all widths and both colour schemes', async () => {
  await page.goto(`${at}/docs`);
  await follow('Quickstart');
  for (const { title } of guides) {
    await see(title);
    const next = page.locator('[rel=next]');
    if (await next.count()) await next.click();
  }
  await visit('/account/tokens', 'Development sign-in');
  await signIn('Ann');
  await arrive('Personal access tokens');
  await fill('Name', '\u200b');
  await click('Create token');
  await seeAlert();
  await fill('Name', 'Backup');
  await click('Create token');
  await see('Your new token');
  await click('I have copied the token');
  await arrive('Personal access tokens');
  await page.getByText('What it may do').click();
  await look();
  await choose('Account');
  await arrive('Ann');
  await fill('Public name', '\u200b');
  await click('Save');
  await seeAlert();
  await choose('Applications');
  await arrive('Your applications');
  const shelf = { Name: 'Shelf', 'What it does': 'Shows your reviews', Website: redirect_uri };
  await register({ ...shelf, 'Redirect URI': 'http://client.example/' });
  await seeAlert();
  await register({ 'Redirect URI': redirect_uri });
  await arrive('Shelf');
  await page.getByText('Show secret').click();
  await look();
  const client_id = page.url().split('/').at(-1) ?? '';
  const secret = (await page.locator('details code').textContent()) ?? '';
  await click('Create new secret');
  await page.getByText('The old secret works until').waitFor();
  await look();
  await fill('Address', 'https://10.0.0.1/');
  await click('Register webhook');
  await seeAlert();
  await fill('Address', `https://${'receiver.'.repeat(20)}example/hook`);
  await click('Register webhook');
  await see('Webhook');
  await setAttributes(webhookKey(client_id, 1), {
    state: 'on',
    failing_since: '2026-11-22T05:24:00.000Z',
    stuck: { id: `rev_${randomUUID()}_3`, type: 'review.edited' },
  });
  await page.reload();
  await page.getByText('Show secret').click();
  await page.getByText('and later ones wait').waitFor();
  await look();
  await fill('From', 'yesterday');
  await click('Replay');
  await seeAlert();
  await authorize(client_id, 'review,vote,user');
  await see('Let Shelf use your account?');
  const answered = await page.locator('form:has([value=approve])').getAttribute('action');
  await page.route(`${redirect_uri}*`, (route) => route.fulfill({ body: 'Back' }));
  await click('Allow');
  await page.waitForURL(`${redirect_uri}*`);
  const code = new URL(page.url()).searchParams.get('code') ?? '';
  const grant = { grant_type: 'authorization_code', code, redirect_uri };
  const body = new URLSearchParams({ client_id, client_secret: secret, ...grant });
  expect((await fetch(`${url}/oauth/token`, { method: 'POST', body })).status).toBe(200);
  await authorize(client_id, 'vote');
  await page.getByText('No new access.').waitFor();
  await look();
  await page.goto(`${at}/account/connections`);
  await page.getByText('What it may do').click();
  await look();

  await authorize(client_id, '', `${redirect_uri}/x`);
  await see('Shelf was not connected');
  await page.goto(answered ?? '');
  await see('Please start again');
  await page.goto(`${at}/account/connections`);
  await click('Revoke access of Shelf');
  await page.getByRole('status').waitFor();
  await look();
  await visit(`/account/applications/${'f'.repeat(32)}`, 'Application not found');
  await visit('/account/typo', 'Page not found');
  await page.goto(`${at}/account/delete`);
  await fill('To confirm, type your name: Ann', 'Bob');
  await click('Delete account');
  await seeAlert();
  await page.goto(`${at}/account`);
  await arrive('Ann');
  await page.context().clearCookies();
  await click('Save');
  await see('You are signed out');
  await follow('Sign in');
  await signIn('Ann');
  await arrive('Ann');
  await page.goto(`${at}/account/sign-out`);
  await click('Sign out');
  await see('You are signed out');
  await authorize(client_id, '');
  await arrive('Development sign-in');
  await click('Cancel');
  await see('You are not signed in');
  await page.goto(`${at}/account/delete`);
  await signIn('Ann');
  await arrive('Delete your account');
  await fill('To confirm, type your name: Ann', 'Ann');
  await click('Delete account');
  await see('Your account was deleted');
  expect(seen).toHaveLength(39);
});

const ownPages = ownReads.filter(
  ({ isPage, operation }) => isPage && operation !== 'download-data',
);

test.each(ownPages)('$path is for everybody who is signed in', async (route) => {
  const [name = '', value = ''] = (await startSession(reader.id)).split(/[=;]/);
  await page.context().addCookies([{ name, value, url: at }]);
  await open(route, scene);
  await look();
});

test('a mistake is seen', async () => {
  await page.goto(`${at}/account`);
  await arrive('Development sign-in');
  await page.addStyleTag({ content: ':root { --field: #d9dde5; --soft: #999; }' });
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await edgeContrast(page)).toBeLessThan(1.5);
  await page.evaluate(
    `document.querySelector('main').innerHTML += '<p class="soft">Hard to read</p><a href="#">a</a><a href="#">b</a>'`,
  );
  await page.addStyleTag({ content: 'main a { display: block; height: 8px; line-height: 8px; }' });
  for (const options of [everything, looksOnly]) {
    const found = (await violationsOn(page, options)).map(({ id }) => id);
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
  // Nor before the mouse has been over the page.
  const late = "getComputedStyle(document.querySelector('.late')).pointerEvents";
  expect(await page.evaluate(late)).toBe('none');
  await page.mouse.move(1, 1);
  // The second click of two, of which the first has opened this page, comes within half a second.
  const reacts = await page.evaluate(`[0, 500, 700].map((time) => {
    const [animation] = document.getAnimations();
    animation.currentTime = time;
    return getComputedStyle(animation.effect.target).pointerEvents;
  })`);
  expect(reacts).toEqual(['none', 'none', 'auto']);
});

describe('in four widths and both colour schemes', () => {
  const widths = [1280, 768, 390, 360];
  let layla: Person;
  let review: string;

  beforeAll(async () => {
    layla = await makeUser({ display_name: 'ليلى' });
    const ann = await makeUser({ display_name: 'Ann '.repeat(16).trim() });
    const arabic = 'أعود إليه كل شتاء ولا أجد فيه إلا ما هو جديد (1997). ';
    const content = { entity_id: named, rating: 5, text: arabic.repeat(90), language: 'ar' };
    review = await layla.publishes(content);
    const text = `${'w'.repeat(2499)} `.repeat(2);
    await ann.publishes({ entity_id: named, rating: 2, text, language: 'en' });
    const loved = await ann.publishes({
      entity_id: longest,
      rating: 4,
      text: `Words below a long name, at last. ${'w'.repeat(300)}`,
    });
    // The start page quotes it, and the author has favourites.
    for (let i = 0; i < 2; i++) await (await makeUser()).votes(loved);
    await layla.publishes({ entity_id: longest, rating: 5 });
    for (const rating of [3, 2]) await layla.publishes({ rating });
    const book = { entity_id: unnamed, entity_type: 'bk_literary_work' };
    await layla.publishes({ ...book, rating: 1, text: null, language: 'en' });
  });

  /** Looks at a page with all that it folds, which may be more on a narrow screen. */
  async function lookWithin() {
    await page.setViewportSize({ width: 360, height: 800 });
    for (const summary of await page.locator('summary').all()) {
      if (await summary.isVisible()) await summary.click();
    }
    await look(widths);
  }

  test.each(visitedPages)('$path is for everybody', async (route) => {
    await open(route, { ...scene, review_id: review, entity_id: named, user_id: layla.id });
    await lookWithin();
  });

  test('the pages that were seen quote a review, and have favourites', async () => {
    await page.goto(`${at}/`);
    await page.getByRole('heading', { name: 'Best-loved this week' }).waitFor();
    await page.goto(`${at}/user/${layla.id}`);
    await page.getByRole('heading', { name: 'Favourites' }).waitFor();
  });

  test.each([
    ['a long name', named],
    ['a name without spaces', longest],
  ])('a phone shows the first review of a thing with %s at once', async (_, entity_id) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${at}/entity/${entity_id}`);
    const first = await page.locator('.review').first().boundingBox();
    // Two of its lines, of 28 pixels each.
    expect(first?.y).toBeLessThan(844 - 2 * 28);
    expect(await page.getByRole('link', { name: 'Write a review' }).count()).toBe(1);
    const bars = page.locator('.histogram');
    expect(await bars.isVisible()).toBe(false);
    await page.getByText('Ratings by stars').click();
    expect(await bars.isVisible()).toBe(true);
    await page.reload();
    await page.setViewportSize({ width: 1280, height: 844 });
    expect(await bars.isVisible()).toBe(true);
  });

  test('other states of public pages are for everybody', async () => {
    for (const [path, heading] of [
      [`/entity/${named}?rating=5&language=ar`, longName],
      [`/entity/${unnamed}`, 'Book without a name'],
      [`/entity/${randomUUID()}`, 'No reviews yet'],
      ['/reviews?language=fr&sort=popularity', 'Reviews'],
      ['/things?sort=latest&entity_type=work', 'Newest here: Compositions'],
      [`/find?q=${longName}&type=work`, 'Find something to review'],
      ['/find?q=https://music.example/nothing', 'Find something to review'],
      [`/review/${randomUUID()}`, 'Review not found'],
      [`/entity/${named}?rating=6`, 'That did not work'],
    ] as const) {
      await page.goto(at + path);
      await arrive(heading);
      await lookWithin();
    }
    await follow('Open the page again');
    await arrive(longName);
  });

  test('public pages are for everybody who is signed in', async () => {
    await page.goto(`${at}/review/${review}/report`);
    await signIn('Reader');
    await see('Report a review', widths);
    await page.getByLabel('Off topic').check();
    await click('Report review');
    await see('You have reported this review', widths);
    await page.goto(`${at}/review/${review}/vote?vote=up`);
    await see('Was this review helpful?', widths);
    await click('Yes 0');
    await page.getByText('Your vote is counted.').waitFor();
    await look(widths);
    await page.goto(`${at}/entity/${named}`);
    await page.getByText('You said yes.').waitFor();
    await look(widths);
    for (const path of [`/user/${layla.id}`, `/review/${review}/revisions`, '/']) {
      await page.goto(at + path);
      await page.locator('header summary').click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      // Open, the menu lies over what is below it.
      await page.locator('header summary').click();
      await look(widths);
    }
  });
});

test('the form to add something fits 320 pixels, text twice as large, and forced colours', async () => {
  await addFilm(await makeUser(), longName);
  await stream.idle();
  const form = page.locator('form[action*="/entity/new"]');
  const groundOf = (name: string) =>
    form
      .getByRole('button', { name })
      .evaluate((button) => button.ownerDocument.defaultView?.getComputedStyle(button).background);
  const lookAt = async (state: () => Promise<void>) => {
    for (const [widths, options, css] of [
      [[320], {}, ''],
      [[1280, 390, 320], {}, 'html { font-size: 200% }'],
      [[1280, 320], { forcedColors: 'active' }, ''],
    ] as const) {
      await page.emulateMedia({ forcedColors: 'none', ...options });
      await state();
      if (css) await page.addStyleTag({ content: css });
      await look(widths);
      expect(await groundOf('Publish')).not.toBe(await groundOf('Save as draft'));
      // Nobody leaves a text for another form by mistake.
      expect(await page.getByRole('link', { name: 'Write a review' }).count()).toBe(0);
    }
  };
  await page.goto(`${at}/entity/new`);
  await signIn('Adder');
  await lookAt(async () => {
    await page.goto(`${at}/entity/new`);
    await arrive('Add something to review');
  });
  await lookAt(async () => {
    await page.goto(`${at}/entity/new`);
    await form.evaluate((each) => each.setAttribute('novalidate', ''));
    await fill('Name', longName);
    await click('Publish');
    await page.getByText('One thing has this name already').waitFor();
  });
});

test('the forms of reviews are for everybody, in four widths and both colour schemes', async () => {
  const widths = [1280, 768, 390, 360];
  const form = `${at}/review/new?entity_id=${named}&entity_type=release_group`;
  await page.goto(form);
  await signIn('Writer');
  await see(`Write a review: ${longName}`, widths);
  // Without the checks of the browser, the service sees the mistakes.
  await page.locator('form[action*="/review/new"]').evaluate((each) => {
    each.setAttribute('novalidate', '');
  });
  await fill('Your review', 'كلمة');
  await click('Publish');
  await seeAlert();
  await fill('Your review', 'w'.repeat(5_000));
  await page.getByLabel('Language of the text').selectOption('Arabic');
  await page.getByText('Choose another licence').click();
  await page.getByLabel('CC0 1.0').check();
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await click('Save as draft');
  await see('You are signed out', widths);
  await page.context().addCookies(cookies);
  await click('Continue');
  await seeAlert();
  await click('Save as draft');
  await see(`Your draft: ${longName}`, widths);
  await page.locator('[name=revision]').evaluate((each) => each.setAttribute('value', 'old'));
  await fill('Your review', 'v'.repeat(5_000));
  await click('Save draft');
  await page.getByRole('heading', { name: 'The saved draft' }).waitFor();
  await look(widths);
  await click('Publish');
  await arrive(longName);
  const review = page.url();
  await page.goto(`${review}/edit`);
  await see(`Edit your review: ${longName}`, widths);
  await page.goto(`${at}/account/reviews`);
  await arrive('Your reviews');
  await follow('Delete');
  await see(`Delete your review: ${longName}`, widths);
  const entity_id = randomUUID();
  await (await makeUser({ display_name: 'Reviewer' })).publishes({ entity_id });
  await page.goto(`${at}/review/new?entity_id=${entity_id}&entity_type=event`);
  await see('Write a review: Album or single without a name', widths);
});
