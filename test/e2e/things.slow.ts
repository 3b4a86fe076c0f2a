/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTable } from '../../infra/local/table.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { handsOn, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// An empty, offline service with types of its own is a place where one can begin.

const browser = await launchBrowser();
const { authUrl: at, stream } = await startTestStack();
const { run: admin, dataDir } = await import('../helpers/admin.ts');
const pictures = process.env.PICTURES;

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

/** Somebody at a browser without script. */
async function person(name: string, width: number) {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width, height: 800 },
  });
  const page = await context.newPage();
  const hands = handsOn(() => page);
  await page.goto(`${at}/account`);
  await hands.signIn(name);
  const id = (await page.locator('dt:text-is("Your id") + dd').textContent()) ?? '';
  return {
    id,
    page,
    ...hands,
    visit: (path: string) => page.goto(at + path),
    /** Searches by the page to find things. */
    async search(text: string) {
      await page.goto(`${at}/find`);
      await page.getByLabel('Name, address or id', { exact: true }).fill(text);
      await page.locator('main').getByRole('button', { name: 'Search', exact: true }).click();
    },
    async look(picture: string) {
      if (pictures)
        await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
    },
  };
}

test('from the first page of an empty service to its third review, and to another service', async () => {
  const ann = await person('Ann', 1280);
  await ann.visit('/');
  await ann.search('Metropolis');
  await ann.page.getByText('0 results for “Metropolis”').waitFor();
  await ann.look('things-1-nothing');
  await ann.follow('Add it');
  await ann.arrive('Add something to review');
  await ann.page.getByLabel('Type').selectOption({ label: 'Film' });
  await ann.fill('Name', 'Metropolis Restored');
  await ann.fill('What tells it apart', 'Fritz Lang · 1926');
  await ann.look('things-2-add');
  await ann.click('Add it');
  await ann.arrive('Metropolis Restored');
  await ann.hear('It is here now. Be the first to review it.');
  await ann.page.getByText('Film · Fritz Lang · 1926').waitFor();
  await ann.look('things-3-added');
  const thing = new URL(ann.page.url());
  await ann.page.locator('main').getByRole('link', { name: 'Write a review' }).click();
  await ann.review('Machines and people, and nobody forgets the stairs.', '5 stars');
  await ann.hear('Your review is public.');
  await stream.idle();

  // Somebody else finds it by the second word of its name.
  const ben = await person('Ben', 390);
  await ben.search('restored');
  await ben.look('things-4-found');
  await ben.follow('Metropolis Restored');
  await ben.page.getByText('Machines and people').waitFor();
  await ben.page.locator('main').getByRole('link', { name: 'Write a review' }).first().click();
  await ben.review('Long, loud and worth every minute of the evening.', '4 stars');
  await ben.page.goto(thing.href);
  await ben.look('things-5-entity');
  await ben.follow('Correct or report this');
  await ben.arrive(/^Correct the name/);
  await ben.fill('What tells it apart', 'Fritz Lang · 1927');
  await ben.fill('Why?', 'It opened in January 1927.');
  await ben.look('things-6-correct');
  await ben.click('Send the correction');
  await ben.hear('Thank you. A moderator looks at it.');
  await ben.page.getByText('Film · Fritz Lang · 1926').waitFor();

  const mia = await person('Mia', 1280);
  await admin('user', 'promote', mia.id);
  await stream.idle();
  await mia.visit('/account/moderation/names');
  await mia.arrive('Names to correct');
  await mia.page.getByText('It opened in January 1927.').waitFor();
  await mia.look('things-7-desk');
  await mia.click('Accept');
  await mia.hear('The name is corrected.');
  await mia.page.goto(thing.href);
  await mia.page.getByText('Film · Fritz Lang · 1927').waitFor();
  await stream.idle();
  await mia.visit('/account/moderation/log');
  await mia.look('things-8-log');
  await mia.click('Undo');
  await mia.hear('The correction is undone.');
  await mia.page.goto(thing.href);
  await mia.page.getByText('Film · Fritz Lang · 1926').waitFor();

  // Ann corrects what she alone has reviewed, at once.
  await ann.visit('/entity/new?name=Go&entity_type=board_game');
  await ann.follow('Fill in what you searched for');
  await ann.click('Add it');
  await ann.page.locator('main').getByRole('link', { name: 'Write a review' }).click();
  await ann.review('Nothing to carry, and a lifetime to learn it.', '5 stars');
  await ann.follow('Go');
  await ann.follow('Correct or report this');
  await ann.fill('What tells it apart', 'for two people');
  await ann.click('Send the correction');
  await ann.hear('The name is saved.');

  await stream.idle();
  const file = join(dataDir, 'everything.jsonl');
  await admin('export', '--out', file);
  const elsewhere = `elsewhere-${Date.now()}`;
  const { TABLE_NAME = '', AWS_ENDPOINT_URL_DYNAMODB = '' } = process.env;
  await createTable(AWS_ENDPOINT_URL_DYNAMODB, elsewhere);
  process.env.TABLE_NAME = elsewhere;
  const { importExport } = await import('../../bin/import.ts');
  const imported = await importExport(file, { isDryRun: false, onBegin: async () => {} });
  expect(imported.refused).toEqual({});
  const { findByName } = await import('../../shared/entity/name-index.ts');
  const { listReviews } = await import('../../shared/review/review-list.ts');
  const [film] = await findByName('restored');
  expect(film).toMatchObject({ name: 'Metropolis Restored', about: 'Fritz Lang · 1926' });
  const first = { order: 'date', descending: true, limit: 10, offset: 0 } as const;
  const { count } = await listReviews({ ...first, entity_type: 'own' });
  expect(count).toBe(3);
  expect(readFileSync(file, 'utf8')).toContain('"decision":"correct"');
  process.env.TABLE_NAME = TABLE_NAME;
}, 180_000);

test('the new pages are for everybody, at each width and in both schemes', async () => {
  const page = await browser.newPage({ bypassCSP: true, viewport: { width: 390, height: 800 } });
  const hands = handsOn(() => page);
  await page.goto(`${at}/account`);
  await hands.signIn('Mia');
  await page.goto(`${at}/find?q=metropolis`);
  const found = page.getByRole('link', { name: 'Metropolis Restored' }).first();
  const thing = (await found.getAttribute('href')) ?? '';
  const naming = thing.replace('?', '/name?');
  const paths = [
    '/entity/new',
    '/account/moderation/names',
    '/account/moderation/log',
    '/find?q=go',
  ];
  for (const address of [...paths.map((path) => at + path), thing, naming]) {
    await page.goto(address);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect([address, width, await violationsOn(page)]).toEqual([address, width, []]);
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  }
});
