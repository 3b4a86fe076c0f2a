import { metered } from '../../shared/base/table/budget.ts';
import { tryUpdate } from '../../shared/base/table/transact.ts';
import { appeal } from '../../shared/core/report/decision-repository.ts';
import { countNews, newsKinds, newsUpdate } from '../../shared/core/user/news.ts';
import { findUser } from '../../shared/core/user/user-repository.ts';
import { expectExact } from '../helpers/recount.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeModerator, makeUser, type Person, visitor } from '../helpers/world.ts';

const mia = await makeModerator('Mia');
const ben = await makeModerator('Ben');

/** The word of the menu that leads to the account. */
async function menuOf(person: Person): Promise<string | undefined> {
  const html = await pageFor('show-my-reviews', person);
  return /<a href="[^"]*\/account"[^>]*>(Account[^<]*)</.exec(html)?.[1];
}

test('the menu counts decisions on own reviews until the account page has shown them', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  expect(await menuOf(author)).toBe('Account');
  await mia.decides(id, 'hide');
  expect(await menuOf(author)).toBe('Account (1)');
  await appeal(id, author.id, 'It is my own.');
  await ben.decides(id, 'restore');
  expect(await menuOf(author)).toBe('Account (2)');
  expect(await pageFor('show-my-votes', author)).toMatch(
    /<summary><bdi>[^<]*<\/bdi><span class="figure">2<span class="unseen"> news</,
  );
  expect(await menuOf(mia)).toBe('Account');
  const html = await pageFor('show-account', author);
  expect(html).toContain('A moderator has hidden a review of yours.');
  expect(html).toContain('A review of yours is public again.');
  expect(await menuOf(author)).toBe('Account');
  expect(await pageFor('show-account', author)).not.toContain('<h2>News</h2>');
  await expectExact();
});

test('dismissed reports are no news, and a refused appeal is', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  const reader = await makeUser();
  await reader.reports(id, {});
  await mia.decides(id, 'dismiss');
  expect(await menuOf(author)).toBe('Account');
  await mia.decides(id, 'hide');
  await ask('show-account', author);
  await appeal(id, author.id, 'It is my own.');
  await ben.decides(id, 'uphold');
  expect(await pageFor('show-account', author)).toContain(
    'Your appeal was decided: the review stays hidden.',
  );
});

test('a webhook that was turned off and a corrected name are news', async () => {
  const owner = await makeUser();
  for (const kind of ['webhook', 'name', 'name'] as const)
    await tryUpdate(newsUpdate(owner.id, kind));
  expect(await menuOf(owner)).toBe('Account (3)');
  const html = await pageFor('show-account', owner);
  expect(html).toContain('A webhook of yours was turned off.');
  expect(html).toContain('Names that you gave and that were corrected or removed: 2.');
});

test('news does not show to others, and not in the API', async () => {
  const author = await makeUser();
  const id = await author.publishes();
  await mia.decides(id, 'hide');
  const { body } = await visitor.readsUser(author.id);
  expect(JSON.stringify(body)).not.toContain('news');
});

test('news is part of the account, which still costs half a unit', async () => {
  const { id } = await makeUser({ display_name: '\u{1F600}'.repeat(64) });
  for (const kind of newsKinds) {
    for (let i = 0; i < 3; i++) await tryUpdate(newsUpdate(id, kind));
  }
  const { result, usage } = await metered(() => findUser(id, { consistent: false }));
  expect(result && countNews(result)).toBe(27);
  expect(usage.read).toBe(0.5);
});

test('an author reads an own hidden review and why, and others do not find it', async () => {
  const author = await makeUser();
  const reader = await makeUser();
  const id = await author.publishes();
  await mia.decides(id, 'hide', { reason: 'spam', note: 'A <shop>.' });
  const path = { review_id: id };
  const own = await ask('show-review', author, { path });
  expect(own).toHaveStatus(200);
  expect(own.html).toContain('<h2>Hidden: spam</h2>');
  expect(own.html).toContain('A &lt;shop&gt;.');
  expect(own.html).toContain(`/account/reviews/${id}/appeal"`);
  expect(own.headers['cache-control']).toBe('private, no-store');
  expect(await ask('show-review', reader, { path })).toHaveStatus(404);
  expect(await ask('show-review', mia, { path })).toHaveStatus(404);
  const draft = await makeUser();
  const unfinished = await draft.publishes({ is_draft: true });
  const answer = await ask('show-review', draft, { path: { review_id: unfinished } });
  expect(answer.headers.location).toBe(`https://api.example/ws/review/${unfinished}/edit`);
  await author.deletes(id);
  expect(await ask('show-review', author, { path })).toHaveStatus(404);
});
