/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { handsOn, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// An empty, offline service with types of its own is a place where one can begin.

const browser = await launchBrowser();
const { url: api, authUrl: at, stream } = await startTestStack();
const { run: admin, dataDir } = await import('../helpers/admin.ts');
const { enterEmptyTable } = await import('../helpers/table.ts');
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
    /** Returns a growing list of the pages that the person sees. */
    pages(): string[] {
      const seen: string[] = [];
      page.on('response', (response) => {
        const isPage = response.request().isNavigationRequest() && response.status() !== 303;
        if (isPage) seen.push(response.url().slice(at.length));
      });
      return seen;
    },
    /** Searches by the page to find things. */
    async search(text: string) {
      await page.goto(`${at}/find`);
      await hands.fill('Name', text);
      await page.keyboard.press('Enter');
      await page.getByText(`for “${text}”`).waitFor();
    },
    async look(picture: string) {
      if (pictures)
        await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
    },
  };
}

test('ten of one name are on two pages', async () => {
  const { recordWrites } = await import('../../shared/core/entity/record.ts');
  const { transact } = await import('../../shared/base/table/transact.ts');
  for (let n = 0; n < 10; n++) {
    const thing = { entity_id: randomUUID(), entity_type: 'film' as EntityType };
    const words = { name: 'Greatest Tides', about: `Volume ${n}`, origin: 'operator' as const };
    await transact(recordWrites(undefined, { ...thing, ...words }));
  }
  await stream.idle();
  const eve = await person('Eve', 390);
  await eve.search('greatest tides');
  const results = () => eve.page.locator('main .thing:has(> .button)').allTextContents();
  const first = await results();
  expect(first).toHaveLength(8);
  await eve.follow('Next page');
  const second = await results();
  expect(second).toHaveLength(2);
  expect(new Set([...first, ...second]).size).toBe(10);
});

test('from the first page of an empty service to its third review, and to another service', async () => {
  const ann = await person('Ann', 1280);
  const seen = ann.pages();
  await ann.visit('/');
  await ann.page.locator('header').getByRole('link', { name: 'Write a review' }).click();
  await ann.fill('Name', 'Metropolis');
  await ann.page.keyboard.press('Enter');
  await ann.page.getByText('0 results for “Metropolis”').waitFor();
  await ann.look('things-1-nothing');
  await ann.page.locator('.thing').getByRole('link', { name: 'Film', exact: true }).click();
  await ann.arrive('Add something to review');
  expect(await ann.page.getByLabel('Type').inputValue()).toBe('film');
  await ann.fill('Name', 'Metropolis Restored');
  await ann.fill('What tells it apart', 'Fritz Lang · 1926');
  await ann.look('things-2-add');
  await ann.review('Machines and people, and nobody forgets the stairs.', '5 stars');
  await ann.hear('Your review is public.');
  await ann.page.getByText('Film · Fritz Lang · 1926').waitFor();
  // From the start page to the published review, these are all the pages that she saw.
  expect(seen.map((path) => path.replace(/[-\da-f]{36}/, '…'))).toEqual([
    '/',
    '/find',
    '/find?q=Metropolis',
    '/entity/new?name=Metropolis&entity_type=film',
    '/review/…',
  ]);
  await ann.look('things-3-published');
  await ann.follow('Metropolis Restored');
  await ann.arrive('Metropolis Restored');
  const thing = new URL(ann.page.url());
  await stream.idle();

  // Somebody else finds it by its director and year, and in the list.
  const ben = await person('Ben', 390);
  await ben.visit('/things?sort=latest');
  await ben.arrive('Newest here');
  await ben.page.getByRole('img', { name: '5 of 5 stars' }).waitFor();
  await ben.page.getByText('1 review').waitFor();
  await ben.search('lang 1926');
  await ben.look('things-4-found');
  await ben.follow('Metropolis Restored');
  await ben.page.getByText('Machines and people').waitFor();
  await ben.page.locator('main').getByRole('link', { name: 'Write a review' }).first().click();
  await ben.review('Long, loud and worth every minute of the evening.', '4 stars');
  await ben.page.goto(thing.href);
  await ben.look('things-5-entity');
  await ben.follow('Correct or report');
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
  await mia.visit('/account/moderation?kind=proposal');
  await mia.page.getByText('It opened in January 1927.').waitFor();
  await mia.look('things-7-desk');
  await mia.page.locator('tbody').getByRole('link', { name: 'Metropolis' }).first().click();
  await mia.arrive(/^The name: Metropolis/);
  await mia.look('things-7-name');
  await mia.click('Accept');
  await mia.hear('The name is corrected.');
  await mia.page.goto(thing.href);
  await mia.page.getByText('Film · Fritz Lang · 1927').waitFor();
  await stream.idle();
  await mia.visit('/account/moderation/log');
  await mia.look('things-8-log');
  await mia.page.getByRole('button', { name: 'Undo' }).first().click();
  await mia.hear('The change is undone.');
  await mia.page.goto(thing.href);
  await mia.page.getByText('Film · Fritz Lang · 1926').waitFor();

  // Ann corrects what she alone has reviewed, at once.
  await ann.visit('/entity/new?name=Go&entity_type=board_game');
  await ann.follow('Fill in what you searched for');
  await ann.click('Add it without a review');
  await ann.hear('It is here now. Be the first to review it.');
  await ann.page.locator('main').getByRole('link', { name: 'Write a review' }).click();
  await ann.review('Nothing to carry, and a lifetime to learn it.', '5 stars');
  await ann.follow('Go');
  await ann.follow('Correct or report');
  await ann.fill('What tells it apart', 'for two people');
  await ann.click('Send the correction');
  await ann.hear('The name is saved.');

  await stream.idle();
  const file = join(dataDir, 'everything.jsonl');
  await admin('export', '--out', file);
  const leave = await enterEmptyTable();
  const { importExport } = await import('../../bin/import.ts');
  const imported = await importExport(file, { isDryRun: false, onBegin: async () => {} });
  expect(imported.refused).toEqual({});
  const { findThings } = await import('../../shared/features/things/find-things.ts');
  const { listReviews } = await import('../../shared/core/review/review-list.ts');
  const [film] = (await findThings('restored')).things;
  expect(film?.record).toMatchObject({ name: 'Metropolis Restored', about: 'Fritz Lang · 1926' });
  const first = { order: 'date', descending: true, limit: 10, offset: 0 } as const;
  const { count } = await listReviews({ ...first, entity_type: 'own' });
  expect(count).toBe(3);
  expect(readFileSync(file, 'utf8')).toContain('"decision":"correct"');
  leave();
}, 180_000);

test('a duplicate leads on and back, and a removed thing is nowhere', async () => {
  const ann = await person('Ann', 390);
  const add = async (name: string, about: string) => {
    await ann.visit('/entity/new');
    await ann.page.getByLabel('Type').selectOption({ label: 'Film' });
    await ann.fill('Name', name);
    await ann.fill('What tells it apart', about);
    await ann.click('Add it without a review');
  };
  await add('Past Lives', 'Celine Song · 2023');
  const first = new URL(ann.page.url());
  await stream.idle();
  await add('past lives!', 'New York');
  await ann.page.getByText('One thing has this name already. Do you mean it?').waitFor();
  await ann.look('things-9-already');
  await ann.page.getByRole('radio', { name: 'Past Lives · Celine Song · 2023' }).waitFor();
  await ann.page.getByRole('radio', { name: 'No, it is another' }).check();
  await ann.review('Two people on a bench, and twelve years between them.', '5 stars');
  await ann.hear('Your review is public.');
  await ann.follow('past lives!');
  await ann.arrive('past lives!');
  const second = new URL(ann.page.url());
  await stream.idle();

  const mia = await person('Mia', 1280);
  await admin('user', 'promote', mia.id);
  await mia.page.goto(second.href);
  await mia.follow('Remove or join it');
  await mia.fill('The other: its name, address or id', 'past lives');
  await mia.page.locator('#join').getByRole('button', { name: 'Search' }).click();
  await mia.page.getByRole('radio', { name: 'Past Lives Celine Song · 2023' }).check();
  await mia.look('things-10-join');
  await mia.click('Join them');
  await mia.hear('It leads to the other now.');
  await stream.idle();
  await ann.search('past lives');
  await ann.page.getByText('1 result for “past lives”').waitFor();
  await ann.page.goto(second.href);
  await ann.look('things-11-same');
  await ann.page.getByText('This is the same as').waitFor();
  await ann.page.getByText('Two people on a bench').waitFor();
  const ben = await person('Ben', 390);
  await ben.page.goto(second.href);
  await ben.page.locator('main').getByRole('link', { name: 'Write a review' }).click();
  await ben.review('Quiet, and it stays with you for a week.', '4 stars');
  await ben.page.goto(first.href);
  await ben.page.getByText('Quiet, and it stays with you').waitFor();
  await mia.page.reload();
  await mia.click('Part them');
  await mia.hear('It is a thing of its own again.');
  await stream.idle();
  await ann.search('past lives');
  await ann.page.getByText('2 results for “past lives”').waitFor();

  const readChanges = async (query = '') => {
    const answer = await fetch(`${api}/changes${query}`);
    return (await answer.json()) as { next: string; changes: { id: string }[] };
  };
  const { next } = await readChanges();
  await add('Cheap watches, call now', 'All brands');
  const advert = new URL(ann.page.url());
  const id = advert.pathname.split('/').at(-1) ?? '';
  await stream.idle();
  await mia.page.goto(advert.href);
  await mia.follow('Remove or join it');
  await mia.page.getByLabel('Reason').selectOption({ label: 'Spam' });
  await mia.look('things-12-remove');
  await mia.click('Remove it');
  await mia.hear('It is removed.');
  await stream.idle();
  await ann.page.goto(advert.href);
  await ann.page.getByText('Nobody has reviewed this yet.').waitFor();
  expect(await ann.page.content()).not.toContain('Cheap watches');
  // A mirror, a dump and an import.
  const { changes } = await readChanges(`?since=${next}`);
  const told = changes.filter((change) => change.id === id);
  expect(told).toMatchObject([{ kind: 'entity', entity: null, state: 'removed' }]);
  await admin('export', '--public', '--out', join(dataDir, 'dump'));
  const dump = gunzipSync(readFileSync(join(dataDir, 'dump', 'entities.jsonl.gz'))).toString();
  expect(dump).toContain('Celine Song');
  expect(dump).not.toContain('Cheap watches');
  const file = join(dataDir, 'removed.jsonl');
  await admin('export', '--out', file);
  const leave = await enterEmptyTable();
  const { importExport } = await import('../../bin/import.ts');
  await importExport(file, { isDryRun: false, onBegin: async () => {} });
  const { readRecord } = await import('../../shared/core/entity/record.ts');
  const entity = { entity_id: id, entity_type: 'film' } as never;
  expect(await readRecord(entity)).toMatchObject({
    name: 'Cheap watches, call now',
    state: 'removed',
  });
  leave();
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
  const desk = thing.replace('/entity/', '/account/moderation/things/');
  const paths = [
    '/entity/new',
    '/account/moderation?kind=proposal',
    '/account/moderation/log',
    '/account/names',
    '/find?q=go',
  ];
  for (const address of [...paths.map((path) => at + path), thing, naming, desk, `${desk}&q=go`]) {
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
