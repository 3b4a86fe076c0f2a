/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film","SHOWN_GROUPS":"own"}} */
import { launchBrowser } from '../helpers/chromium.ts';
import { startMailServer } from '../helpers/mail-server.ts';
import { handsOn } from '../helpers/page.ts';
import { startTestStack } from '../helpers/stack.ts';

// The first evening of a film club: everybody has the link of an invitation and a mailbox, and
// reviews a film that nobody had. Later, a moderator reads what newcomers wrote. More people:
// EVENING_PEOPLE=40 EVENING_NEWCOMERS=300 npm run e2e -- test/e2e/evening

const people = Number(process.env.EVENING_PEOPLE ?? 3);
const newcomers = Number(process.env.EVENING_NEWCOMERS ?? 5);
/** People who are at it at the same time: the machine is also the browser of all of them. */
const atOnce = 4;

const browser = await launchBrowser();
const mailServer = await startMailServer();
Object.assign(process.env, {
  SITE_NAME: 'Film club',
  MEMBERS: 'invited',
  SMTP_URL: mailServer.url,
  MAIL_FROM: 'club@example.org',
});
// They are behind one address and have no account: a tenth of the mails is for such people.
const mails = { signInMails: 10_000, signInMailsPerClient: 10_000 };
const { authUrl: at, stream } = await startTestStack(mails);
const { run: admin } = await import('../helpers/admin.ts');
const { addFilm } = await import('../helpers/things.ts');
const { filledForm } = await import('../helpers/review-form.ts');
const { makeModerator, makeUser, visitor } = await import('../helpers/world.ts');
const { signInAs } = await import('../helpers/visit.ts');
afterAll(mailServer.stop);

/** Somebody at a phone without script, and the addresses of the pages that they see. */
async function phone() {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  });
  const page = await context.newPage();
  const pages: string[] = [];
  page.on('response', (response) => {
    const status = response.status();
    const isPage = response.request().isNavigationRequest() && (status < 300 || status >= 400);
    const { pathname } = new URL(response.url());
    if (isPage) pages.push(pathname.replace(/^\/ws/, '').replaceAll(/[\w-]{21,}/g, '…'));
  });
  return { page, pages, context, ...handsOn(() => page) };
}

/** Prints a number that somebody who runs this asks for. */
function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);

/** Joins by the link, and publishes a review of a new film. Returns the pages and the time. */
async function comeAndReview(link: string, i: number) {
  const start = performance.now();
  const { page, pages, context, ...hands } = await phone();
  const address = `member${i}@mail.example`;
  await page.goto(link);
  await hands.follow('Sign in and join');
  await hands.arrive('Sign in');
  await hands.fill('Email address', address);
  await hands.click('Send the mail');
  await hands.arrive('Check your mail');
  await page.goto((await mailServer.next(address)).link);
  await hands.click('Sign in');
  await hands.arrive('Choose your public name');
  await hands.fill('Public name', `Member ${i}`);
  await hands.click('Save and continue');
  await hands.hear('Welcome');
  await page.locator('header').getByRole('link', { name: 'Write a review' }).click();
  const film = `Film ${i} of the evening`;
  await hands.fill('Name', film);
  await page.keyboard.press('Enter');
  await hands.follow('Add it');
  await hands.arrive('Add something to review');
  await hands.fill('What tells it apart', `${1900 + i}`);
  await hands.review(`Film ${i}: everybody was quiet until the lights went on.`, '4 stars');
  await hands.hear('Your review is public.');
  await context.close();
  return { pages, time: performance.now() - start };
}

test(`${people} people come by one link, and each publishes a review of a new film`, async () => {
  const { link, id } = await admin('invitation', 'create', '--people', `${people}`);
  const waiting = Array.from({ length: people }, (_, i) => i).values();
  const came: Awaited<ReturnType<typeof comeAndReview>>[] = [];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const i of waiting) came.push(await comeAndReview(link, i));
    }),
  );
  const all = performance.now() - start;
  for (const { pages } of came) {
    expect(pages).toEqual([
      '/join/…',
      '/identity-provider/sign-in/…',
      '/identity-provider/sign-in/…',
      '/identity-provider/sign-in/…/…',
      '/account',
      '/',
      '/find',
      '/find',
      '/entity/new',
      '/review/…',
    ]);
  }
  await stream.idle();
  expect((await visitor.lists({ entity_type: 'film' })).body.count).toBe(people);
  const { invitations } = await admin('invitation', 'list');
  expect(invitations).toMatchObject([{ id, people, joined: people, is_open: false }]);
  const times = came.map(({ time }) => time).toSorted((a, b) => a - b);
  tell(
    `${people} people, ${atOnce} at a time: ${came[0]?.pages.length} pages each, ${seconds(times[people >> 1] ?? 0)} s in the middle, ${seconds(times.at(-1) ?? 0)} s at most, ${seconds(all)} s in all`,
  );

  // Whoever comes late reads why there is no place.
  const late = await phone();
  await late.page.goto(link);
  await late.arrive('This invitation has ended');
  await late.context.close();
}, 3_600_000);

test(`a moderator approves the first reviews of ${newcomers} newcomers on the pages of the queue`, async () => {
  process.env.HELD_REVIEWS = '1';
  for (let i = 0; i < newcomers; i++) {
    const newcomer = await makeUser({ display_name: `Newcomer ${i}` });
    const form = filledForm({ name: `Held ${i}`, review: 'publish' });
    const { answer } = await addFilm(newcomer, `Held ${i}`, form);
    expect(answer).toHaveStatus(303);
  }
  await stream.idle();
  const { id } = await makeModerator('Mia');
  const { page, pages, context, ...hands } = await phone();
  const [name = '', value = ''] = (await signInAs(id)).cookie.split('=');
  await context.addCookies([{ name, value, url: at }]);
  const start = performance.now();
  await page.goto(`${at}/account/moderation?kind=held`);
  const buttons = page.getByRole('button', { name: /^Approve the review by/ });
  let approved = 0;
  while ((await buttons.count()) > 0) {
    await buttons.first().click();
    await hands.hear('The review is public now.');
    approved++;
  }
  const time = performance.now() - start;
  await page.getByText('There is nothing to decide.').waitFor();
  expect(approved).toBe(newcomers);
  // The queue, and again after each decision.
  expect(pages).toEqual(Array(newcomers + 1).fill('/account/moderation'));
  await stream.idle();
  expect((await visitor.lists({ entity_type: 'film' })).body.count).toBe(people + newcomers);
  tell(`${newcomers} newcomers: ${pages.length} pages of the queue, ${seconds(time)} s`);
  await context.close();
  delete process.env.HELD_REVIEWS;
}, 3_600_000);
