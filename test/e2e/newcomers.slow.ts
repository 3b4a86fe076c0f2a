/** @jest-environment-options {"variables":{"HELD_REVIEWS":"2"}} */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { launchBrowser } from '../helpers/chromium.ts';
import { handsOn, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// The first two reviews of everybody new wait for a moderator.

const browser = await launchBrowser();
const { authUrl: at, stream } = await startTestStack();
const { run: admin } = await import('../helpers/admin.ts');
const pictures = process.env.PICTURES;

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

/** Somebody at a browser: a visitor, until they sign in. */
async function visitor(width: number) {
  const viewport = { width, height: 800 };
  const context = await browser.newContext({ viewport, bypassCSP: true });
  const page = await context.newPage();
  return {
    page,
    ...handsOn(() => page),
    visit: (path: string) => page.goto(at + path),
    see: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** The row of a table with this text. */
    row: (text: string) => page.locator('tbody tr, li.thing').filter({ hasText: text }),
    /** Compares the page with the rules for everybody, and keeps a picture of it. */
    async look(picture: string) {
      if (pictures) {
        await page.screenshot({ path: join(pictures, `new-${picture}.png`), fullPage: true });
      }
      expect([picture, await violationsOn(page)]).toEqual([picture, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    },
  };
}

async function person(name: string, width: number) {
  const one = await visitor(width);
  await one.visit('/account');
  await one.signIn(name);
  await one.arrive(name);
  const id = (await one.page.locator('dt:text-is("Your id") + dd').textContent()) ?? '';
  return { id, name, ...one };
}

type Somebody = Awaited<ReturnType<typeof person>>;

/** Writes about something that nobody has named yet. Returns the path of its page. */
async function write(author: Somebody, name: string): Promise<string> {
  const entity = randomUUID();
  await author.visit(`/review/new?entity_id=${entity}&entity_type=release_group`);
  await author.review(`${name} rewards every new listen.`, '5 stars', name);
  return `/entity/${entity}`;
}

async function moderator(name: string) {
  const one = await person(name, 1280);
  await admin('user', 'promote', one.id);
  return one;
}

/** Opens the review that waits, from the list of those by new authors. */
async function open(mia: Somebody, author: Somebody) {
  await stream.idle();
  await mia.visit('/account/moderation');
  await mia.follow('New authors');
  const row = mia.row(author.name);
  await row.getByText('Waits for approval').waitFor();
  await mia.look('desk');
  await row.getByRole('link').first().click();
  await mia.arrive(`A review by ${author.name}`);
  await mia.look('case');
}

test('the first reviews wait, are approved or refused, and the third is public at once', async () => {
  const ann = await person('Ann', 390);
  const mia = await moderator('Mia');
  const ben = await moderator('Ben');
  const stranger = await visitor(1280);
  const nobody = 'Nobody has reviewed this yet';

  const first = await write(ann, 'Blue Train');
  await ann.hear('It waits for a moderator');
  await ann.look('waits');
  await ann.visit('/account/reviews');
  await ann.row('Blue Train').getByText('Waits for a moderator').waitFor();
  await ann.look('own');
  await stranger.visit(first);
  await stranger.see(nobody);

  await open(mia, ann);
  await mia.click('Approve the review');
  await mia.hear('The review is public now.');
  await stream.idle();
  await stranger.visit(first);
  await stranger.see('Blue Train rewards every new listen.');
  // The menu has a figure, and the account says what it is.
  await ann.visit('/reviews');
  expect(await ann.page.locator('header summary').textContent()).toMatch(/1/);
  await ann.visit('/account');
  await ann.see('Approved');
  await ann.look('news');

  const second = await write(ann, 'Moanin');
  await ann.hear('It waits for a moderator');
  await open(mia, ann);
  const refusal = mia.page.locator('form').filter({ has: mia.page.getByLabel('Reason') });
  await refusal.getByLabel('Reason').selectOption({ label: 'Spam' });
  await refusal.getByLabel('Note').fill('It reads like an advertisement.');
  await mia.click('Refuse the review');
  await mia.hear('The review is hidden.');
  await ann.visit('/account/reviews');
  const refused = ann.row('Moanin');
  await refused.getByText('It reads like an advertisement.').waitFor();
  await refused.getByText('Appeal against this decision').click();
  await refused.getByRole('textbox').fill('I only like the record.');
  await refused.getByRole('button').click();
  await ann.look('appeal');
  await stream.idle();
  await ben.visit('/account/moderation?kind=appeal');
  await ben.row('Ann').getByRole('link').first().click();
  await ben.see('I only like the record.');
  await ben.click('Make it public again');
  await stream.idle();
  await stranger.visit(second);
  await stranger.see('Moanin rewards every new listen.');

  const third = await write(ann, 'Go!');
  await ann.hear('Your review is public.');
  await stream.idle();
  await stranger.visit(third);
  await stranger.see('Go! rewards every new listen.');
}, 240_000);

test('whoever is blocked for the reviews that wait has them hidden with one decision', async () => {
  const sid = await person('Sid', 1280);
  const mia = await moderator('Mona');
  await write(sid, 'Cheap watches');
  await write(sid, 'Cheaper watches');
  await stream.idle();
  await mia.visit(`/account/moderation/users/${sid.id}`);
  await mia.page.getByLabel('Reason').selectOption({ label: 'Spam' });
  await mia.page.getByLabel('Note').fill('One shop.');
  await mia.look('spammer');
  await mia.click('Block and undo everything');
  await mia.hear('The account is blocked. Everything that it did is being undone.');
  const underWay = mia.page.getByText('Everything is being undone.');
  while ((await underWay.count()) > 0) await mia.page.reload();
  expect(await mia.row('Hidden: spam').count()).toBe(2);
  await mia.visit('/account/moderation?kind=held');
  await mia.see('There is nothing to decide.');
}, 120_000);
