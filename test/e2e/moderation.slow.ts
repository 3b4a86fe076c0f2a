import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { callerOf } from '../helpers/api.ts';
import { launchBrowser } from '../helpers/chromium.ts';
import { handsOn, violationsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

const browser = await launchBrowser();
const { url, authUrl: at } = await startTestStack();
const { run: admin } = await import('../helpers/admin.ts');
const { reviewBody } = await import('../helpers/world.ts');
const pictures = process.env.PICTURES;

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

type Decision = Record<'user_id' | 'moderator_id' | 'decision' | 'note', string>;

/** Returns all decisions on an account and its reviews, newest first. */
async function decisionsOn(id: string): Promise<Decision[]> {
  const { decisions } = await admin('decision', 'list');
  return decisions.filter(({ user_id }: Decision) => user_id === id);
}

/** Somebody at a browser of their own. */
async function person(name: string, width: number) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, bypassCSP: true });
  const page = await context.newPage();
  const hands = handsOn(() => page);
  /** Returns the id of the account. */
  const signIn = async () => {
    await page.goto(`${at}/account`);
    await hands.signIn(name);
    await hands.arrive(name);
    return (await page.locator('dt:text-is("Your id") + dd').textContent()) ?? '';
  };
  const id = await signIn();
  const token = ['--user', id, '--name', 'Script', '--scope', 'review,vote'];
  const { access_token } = await admin('token', 'create', ...token);
  return {
    id,
    name,
    page,
    ...hands,
    signIn,
    /** Calls the API as a script of theirs does. */
    call: callerOf(url, access_token),
    visit: (path: string) => page.goto(at + path),
    follow: (link: string | RegExp) => page.getByRole('link', { name: link }).first().click(),
    /** Fills in the form under a heading, or the only one. */
    async explain(reason: string, note: string, heading = '') {
      const form = page.locator('section', { hasText: heading }).locator('form').last();
      await form.getByLabel('Reason').selectOption({ label: reason });
      await form.getByLabel('Note').fill(note);
    },
    /** The row of a table with this text. */
    row: (text: string) => page.locator('tbody tr, li.thing').filter({ hasText: text }),
    look: (picture: string) => look(page, `${width}-${picture}`, width),
  };
}

/** Widths of windows: of a tablet beside a desktop, of a small phone beside a larger one. */
const narrower: Record<number, number> = { 1280: 768, 390: 360 };

/** The page is for everybody, and nothing of it sticks out at the side. */
async function look(page: Page, picture: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  if (pictures) await page.screenshot({ path: join(pictures, `${picture}.png`), fullPage: true });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await violationsOn(page);
    expect([picture, colorScheme, found]).toEqual([picture, colorScheme, []]);
  }
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  const next = narrower[width];
  if (next) await look(page, `${picture}-${next}`, next);
  await page.setViewportSize({ width, height: 800 });
}

describe.each([
  ['a desktop', 1280],
  ['a phone', 390],
] as const)('on %s', (device, width) => {
  test('a review is reported, hidden, appealed and restored, and the log has it all', async () => {
    const named = (name: string) => person(`${name} on ${device}`, width);
    const [ann, rita, rob, mia, ben] = await Promise.all(
      ['Ann', 'Rita', 'Rob', 'Mia', 'Ben'].map(named),
    );
    if (!ann || !rita || !rob || !mia || !ben) throw new Error('five people were asked for');
    for (const { id } of [mia, ben]) {
      expect(await admin('user', 'promote', id)).toEqual({ id, is_moderator: true });
    }

    const text =
      'Forty minutes that reward every new listen.\n\nThe shop at the corner has it for ten euros, and the lady behind the counter knows every record by heart.';
    const { id } = (await ann.call('POST', '/review/', reviewBody({ text }))).body;
    const path = `/review/${id}`;
    expect(await rita.call('POST', `${path}/report`, { reason: 'spam' })).toHaveStatus(200);
    const words = { reason: 'This is an advertisement\nfor a <shop>.' };
    expect(await rob.call('POST', `${path}/report`, words)).toHaveStatus(200);

    // For others there is no such page.
    await ann.visit('/account/moderation');
    await ann.arrive('Page not found');
    expect(await ann.page.getByRole('link', { name: 'Moderation' }).count()).toBe(0);

    await mia.visit('/account');
    await mia.choose('Moderation (1)');
    await mia.arrive('Waiting for a decision');
    await mia.look('queue');
    await mia.follow('Reports');
    await mia.follow('Abuse');
    await mia.page.getByText('There is nothing to decide.').waitFor();
    await mia.follow('Another reason');
    const row = mia.row(ann.name);
    expect(await row.textContent()).toContain('2 reportsSpam 1, Another reason 1');
    await row.getByRole('link', { name: 'Album or single without a name' }).click();
    await mia.arrive(`A review by ${ann.name}`);
    await mia.page.getByText('This is an advertisement\nfor a <shop>.').waitFor();
    const reporters = mia.page.locator('section', { hasText: '2 reports' }).getByRole('link');
    expect(await reporters.locator('bdi').allTextContents()).toEqual([rita.name, rob.name]);
    await mia.look('case');

    // Ben has it open at the same time, and comes second.
    await ben.visit(`/account/moderation/reviews/${id}`);
    await mia.explain('Spam', 'It advertises a shop.');
    await mia.click('Hide the review');
    await mia.hear('The review is hidden.');
    await mia.page.getByText('There is nothing to decide.').waitFor();
    await ben.explain('Another reason', 'Harmless.');
    await ben.click('Dismiss the reports');
    const alert = ben.page.getByRole('alert');
    await alert.filter({ hasText: `${mia.name} has decided` }).waitFor();
    await ben.look('second');
    expect(await rob.call('GET', path)).toHaveStatus(404);

    const own = (await ann.call('GET', '/user/me/reviews')).body.reviews[0];
    const moderation = { decision: 'hide', reason: 'spam', note: 'It advertises a shop.' };
    expect(own).toMatchObject({ is_hidden: true, moderation });
    await ann.visit('/account');
    await ann.page.getByRole('heading', { name: 'Hidden: spam' }).waitFor();
    await ann.page.getByText('It advertises a shop.').waitFor();
    await ann.page.getByText('Appeal against this decision').click();
    await ann.look('account');
    const says = 'I do not know the shop, I only liked it there.';
    await ann.page.getByLabel('What should the other moderator know?').fill(says);
    await ann.click('Send the appeal');
    await ann.hear('Another moderator will decide on your appeal.');
    expect(await ann.page.getByText('Appeal against this decision').count()).toBe(0);

    await mia.visit(`/account/moderation/reviews/${id}`);
    await mia.page.getByText('The author appeals against your decision').waitFor();
    expect(await mia.page.getByRole('button', { name: 'Make it public again' }).count()).toBe(0);
    await ben.visit('/account/moderation?sort=popularity');
    expect(await ben.row(ann.name).textContent()).toContain('Appeal');
    await ben.row(ann.name).getByRole('link', { name: 'Album or single without a name' }).click();
    await ben.page.getByText(says).waitFor();
    await ben.look('appeal');
    await ben.click('Make it public again');
    await ben.hear('The review is public again.');
    expect(await rob.call('GET', path)).toHaveStatus(200);

    await ben.follow('Log');
    await ben.arrive('Log of moderation');
    const log = ben.row(ann.name);
    const decisions = ['Public again', 'Hidden: spam'];
    expect(await log.locator('strong').allTextContents()).toEqual(decisions);
    const cells = log.locator('[data-name=By], [data-name=Reports]');
    expect(await cells.allTextContents()).toEqual(['0', ben.name, '2', mia.name]);
    await ben.look('log');

    await log.first().getByRole('link', { name: ann.name }).click();
    await ben.arrive(`About ${ann.name}`);
    await ben.explain('Abuse', 'Quarrels with everybody.', 'Block the account');
    await ben.look('author');
    await ben.click('Block');
    await ben.hear('The account is blocked');
    await ben.page.getByText('since').first().waitFor();
    const refused = await ann.call('POST', path, { rating: 1 });
    expect(refused).toHaveStatus(403);
    expect(refused.body.error).toBe('access_denied');
    await ann.visit('/account');
    await ann.look('blocked');
    await ann.click('Save');
    await ann.arrive('Nothing was changed');
    await ann.look('refused');
    await ben.explain('Another reason', '', 'End the block');
    await ben.click('Unblock');
    await ben.hear('The account may write again.');
    expect(await ann.call('POST', path, { rating: 1 })).toHaveStatus(200);
    const all = await decisionsOn(ann.id);
    expect(all.map(({ decision }) => decision)).toEqual(['unblock', 'block', 'restore', 'hide']);
    expect(all.map(({ moderator_id }) => moderator_id)).toEqual([ben.id, ben.id, ben.id, mia.id]);
  });

  test('all reviews of an author are hidden in steps, and the author reads why', async () => {
    const named = (name: string) => person(`${name} hiding on ${device}`, width);
    const [ann, rob, mia] = await Promise.all([named('Ann'), named('Rob'), named('Mia')]);
    await admin('user', 'promote', mia.id);
    await ann.visit('/account/reviews');
    await ann.page.getByText('You have not reviewed anything yet.').waitFor();
    await ann.look('no-reviews');
    const ids: string[] = [];
    for (let i = 0; i < 27; i++) {
      const text = 'هذا الكتاب من أجمل ما قرأت في حياتي كلها';
      const book = { entity_type: 'bk_literary_work', language: 'ar', text, rating: 1 + (i % 5) };
      ids.unshift((await ann.call('POST', '/review/', reviewBody(book))).body.id);
    }
    const [newest = ''] = ids;
    await rob.call('PUT', `/review/${newest}/vote`, { vote: false });
    await mia.call('POST', `/review/${newest}/report`, { reason: 'abuse' });
    await rob.visit('/account/votes');
    await rob.row('Book without a name').getByText('No', { exact: true }).waitFor();
    await rob.look('votes');

    await mia.visit(`/account/moderation/users/${ann.id}`);
    await mia.explain('Spam', 'One shop.', 'Block the account');
    await mia.look('all-public');
    await mia.click('Block and undo everything');
    await mia.hear('The account is blocked. Everything that it did is being undone.');
    await mia.arrive(`About ${ann.name}`);
    const underWay = mia.page.getByText('Everything is being undone.');
    while ((await underWay.count()) > 0) await mia.page.reload();
    // Mia has reported one of them.
    await mia.page.getByText('1 public', { exact: true }).waitFor();
    await mia.look('all-hidden');
    expect(await mia.row('Hidden: spam').count()).toBe(19);
    await mia.follow('Next page');
    expect(await mia.row('Hidden: spam').count()).toBe(7);
    const decided = await decisionsOn(ann.id);
    expect(decided.filter(({ note }) => note === 'One shop.')).toHaveLength(27);

    await ann.visit('/account/reviews');
    expect(await ann.row('One shop.').count()).toBe(19);
    await ann.row('One shop.').first().getByText('Appeal against this decision').click();
    await ann.look('own-reviews');
    await ann.row('Public').getByRole('link', { name: 'Book without a name' }).waitFor();
    // Nothing waits for the tests after this one.
    await admin('user', 'unblock', ann.id);
    for (const id of ids) await ann.call('DELETE', `/review/${id}`);
  });

  test('what was decided outlives the review and the account that it was made on', async () => {
    const named = (name: string) => person(`${name} staying on ${device}`, width);
    const [ann, rob, mia, ben] = await Promise.all(['Ann', 'Rob', 'Mia', 'Ben'].map(named));
    if (!ann || !rob || !mia || !ben) throw new Error('four people were asked for');
    for (const { id } of [mia, ben]) await admin('user', 'promote', id);
    const review = reviewBody();
    const { id } = (await ann.call('POST', '/review/', review)).body;
    const path = `/review/${id}`;

    // Mia has reported it, and leaves the decision to Ben.
    expect(await mia.call('POST', `${path}/report`, { reason: 'spam' })).toHaveStatus(200);
    await mia.visit(`/account/moderation/reviews/${id}`);
    await mia.page.getByText('You have reported this review: another moderator').waitFor();
    expect(await mia.page.getByRole('button', { name: 'Hide the review' }).count()).toBe(0);
    await mia.look('reported-by-me');
    await ben.visit(`/account/moderation/reviews/${id}`);
    await ben.explain('Spam', 'It advertises a shop.');
    await ben.click('Hide the review');
    await ben.hear('The review is hidden.');

    // Deleted and published once more, it stays away until a moderator allows another one.
    expect(await ann.call('DELETE', path)).toHaveStatus(200);
    const description = 'A moderator has hidden your review of this';
    const again = await ann.call('POST', '/review/', review);
    expect(again).toHaveStatus(403);
    expect(again.body).toEqual({ error: 'access_denied', description });
    await mia.visit(`/account/moderation/users/${ann.id}`);
    await mia.page.getByRole('heading', { name: 'Hidden reviews that were deleted' }).waitFor();
    await mia.look('marked');
    const section = mia.page.locator('section', { hasText: 'Hidden reviews that were deleted' });
    await section.getByLabel('Reason').selectOption({ label: 'Another reason' });
    await section.getByLabel('Note').fill('It was no shop after all.');
    await mia.click('Allow a new review');
    await mia.hear('The author may review it again.');
    await mia.page.getByText('May be reviewed again: another reason').waitFor();
    expect(await ann.call('POST', '/review/', review)).toHaveStatus(200);
    await ann.visit('/account');
    const allowed = 'May be reviewed again: another reason';
    await ann.page.getByRole('heading', { name: allowed }).waitFor();

    // Eleven reports on one day are one too many.
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) {
      const next = (await ann.call('POST', '/review/', reviewBody())).body.id;
      const reported = await rob.call('POST', `/review/${next}/report`, { reason: 'spam' });
      statuses.push(reported.status);
      if (reported.status !== 200) expect(reported.body.error).toBe('limit_exceeded');
    }
    expect(statuses).toEqual([...Array(10).fill(200), 403]);

    // A blocked developer gets nobody.
    const redirect_uri = 'https://client.example/callback';
    const { client_id } = await admin(
      'app',
      'create',
      '--owner',
      ann.id,
      '--name',
      'Shelf',
      '--desc',
      'A shelf.',
      '--website',
      'https://client.example/',
      '--redirect-uri',
      redirect_uri,
    );
    await mia.visit(`/account/moderation/users/${ann.id}`);
    await mia.explain('Abuse', 'Insults everybody.', 'Block the account');
    await mia.click('Block');
    await mia.hear('The account is blocked');
    const since = await mia.page.locator('dt:text-is("Blocked") + dd').textContent();
    const query = { response_type: 'code', client_id: `${client_id}`, redirect_uri };
    await rob.visit(`/oauth/authorize?${new URLSearchParams(query)}`);
    await rob.arrive('Shelf cannot be connected');
    expect(new URL(rob.page.url()).origin).toBe(new URL(at).origin);
    await rob.look('blocked-developer');

    // Neither does the account get rid of the block by leaving.
    await ann.visit('/account/delete');
    const block = 'The block of your account: its date and a hash of your sign-in';
    await ann.page.getByText(block).waitFor();
    await ann.look('deletion-of-blocked');
    await ann.page.getByLabel('To confirm, type your name').fill(ann.name);
    await ann.click('Delete account');
    await ann.page.waitForLoadState();
    const later = await ann.signIn();
    expect(later).not.toBe(ann.id);
    await ann.page.getByText('a moderator has blocked the account').waitFor();
    await ann.click('Save');
    await ann.arrive('Nothing was changed');
    await mia.visit(`/account/moderation/users/${later}`);
    expect(await mia.page.locator('dt:text-is("Blocked") + dd').textContent()).toBe(since);
    await mia.explain('Another reason', 'Has calmed down.', 'End the block');
    await mia.click('Unblock');
    await mia.hear('The account may write again.');
    await ann.visit('/account');
    await ann.click('Save');
    await ann.hear('Welcome');
    // The reviews of the first account are erased, and with them the reports.
    do await mia.visit('/account/moderation');
    while ((await mia.page.getByText('There is nothing to decide.').count()) === 0);
  });
});
