import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { nameEntities } from '../helpers/names.ts';
import { ask, nextOn, pageFor, signInAs } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

const operator = { reason: 'spam', note: 'A <shop>.', moderator_id: null } as const;

/** Rows of the table on a page, without its head. */
const rowsOf = (html: string): string[] => (html.match(/<tr>[\s\S]*?<\/tr>/g) ?? []).slice(1);

/** Own reviews on a page. */
const reviewsOn = (html: string): string[] => html.split('<li class="thing">').slice(1);

describe('GET /account/reviews', () => {
  test('lists what one has written, with its state and the way to it', async () => {
    const ann = await makeUser();
    const reader = await makeUser();
    const empty = await pageFor('show-my-reviews', ann);
    expect(empty).toContain('You have not reviewed anything yet.');
    expect(empty).toMatch(/href="https:\/\/api.example\/ws\/find"[^>]*>Find something to review</);
    const french = { text: 'The first one, for everybody to read.', language: 'fr' };
    const shown = await ann.publishes(french);
    const unfinished = { is_draft: true, text: 'The second one, not done yet at all.' };
    const draft = await ann.publishes(unfinished);
    const hidden = await ann.publishes({ text: null, rating: 2 });
    await reader.votes(shown);
    await decideReview(hidden, 'hide', operator);
    const rows = reviewsOn(await pageFor('show-my-reviews', ann));
    const rowWith = (text: string) => rows.find((row) => row.includes(text)) ?? '';
    expect(rows).toHaveLength(3);
    const first = rowWith('The first one');
    expect(first).toContain(`<a href="https://api.example/ws/review/${shown}">`);
    expect(first).toContain('lang="fr" dir="auto">The first one');
    expect(first).toMatch(/<p class="soft">Public · .* · Yes\u00a01 · No\u00a00<\/p>/);
    expect(rowWith('The second one')).toContain('<strong>Draft</strong>');
    const third = rowWith('aria-label="2 of 5 stars"');
    expect(third).toContain('<strong>Hidden: spam</strong>');
    expect(third).toContain('<p class="verbatim" dir="auto">A &lt;shop&gt;.</p>');
    expect(third).toContain(`/account/reviews/${hidden}/appeal"`);
    expect(rows.join()).not.toMatch(new RegExp(`/review/(${draft}|${hidden})"`));
    expect(await pageFor('show-my-reviews', reader)).not.toContain('The first one');
  });

  test('goes on page by page', async () => {
    const ben = await makeUser();
    const texts: string[] = [];
    for (let i = 0; i < 21; i++) {
      stopClock(Date.now() + 1);
      texts.unshift(`A record that gets better: number ${i}.`);
      await ben.publishes({ text: texts[0], is_draft: i % 2 === 0 });
    }
    const first = await ask('show-my-reviews', ben);
    const cursor = nextOn(first.html) ?? '';
    const second = await ask('show-my-reviews', ben, { query: { cursor } });
    const shown = [first, second].flatMap(({ html }) => reviewsOn(html));
    expect(shown.map((each) => />(A rec[^<]*)/.exec(each)?.[1])).toEqual(texts);
    expect(nextOn(second.html)).toBeUndefined();
    const other = await makeUser();
    expect(await ask('show-my-reviews', other, { query: { cursor } })).toHaveStatus(400);
  });
});

describe('GET /account/votes', () => {
  test('lists the votes that one has cast, the last first, page by page', async () => {
    const voter = await makeUser({ karma: 50 });
    const empty = await pageFor('show-my-votes', voter);
    expect(empty).toContain('You have not voted on any review yet.');
    const authors = [await makeUser({ display_name: 'Zoë' }), await makeUser()];
    const ids: string[] = [];
    for (let i = 0; i < 21; i++) {
      stopClock(Date.now() + 1);
      const author = authors[i % 2];
      if (!author) throw new Error('two authors were asked for');
      ids.unshift(await author.publishes());
      await voter.votes(`${ids[0]}`, i % 3 === 0 ? 'up' : 'down');
    }
    const first = await ask('show-my-votes', voter);
    const query = { cursor: `${nextOn(first.html)}` };
    const second = await pageFor('show-my-votes', voter, { query });
    const rows = [...rowsOf(first.html), ...rowsOf(second)];
    expect(rows.map((row) => /\/review\/([^"]*)"/.exec(row)?.[1])).toEqual(ids);
    expect(rows.map((row) => /data-name="Helpful">(\w+)</.exec(row)?.[1])).toEqual(
      ids.map((_, i) => ((20 - i) % 3 === 0 ? 'Yes' : 'No')),
    );
    expect(rows[0]).toMatch(new RegExp(`/ws/user/${authors[0]?.id}">.*<bdi>Zoë</bdi></a>`));
    expect(nextOn(second)).toBeUndefined();
    expect(await ask('show-my-votes', await makeUser(), { query })).toHaveStatus(400);
  });

  test('shows nothing of a review that is no longer public', async () => {
    const author = await makeUser({ display_name: 'Nobody Else' });
    const voter = await makeUser();
    const hidden = await author.publishes();
    const gone = await author.publishes();
    for (const id of [hidden, gone]) await voter.votes(id);
    await decideReview(hidden, 'hide', operator);
    await author.deletes(gone);
    const html = await pageFor('show-my-votes', voter);
    expect(html.match(/A review that is not public any more/g)).toHaveLength(2);
    expect(html).not.toMatch(new RegExp(`Nobody Else|${hidden}|${gone}`));
  });
});

describe('GET /account', () => {
  test('begins with the newest own reviews in any state, and has the settings below', async () => {
    const ann = await makeUser();
    const empty = await pageFor('show-account', ann);
    expect(empty).toContain('You have not reviewed anything yet.');
    const texts = ['The oldest one.', 'The third one.', 'The second one.', 'The newest one.'];
    for (const [i, text] of texts.entries()) {
      stopClock(Date.now() + 1);
      const id = await ann.publishes({ text: `${text} It is long enough.`, is_draft: i === 3 });
      if (i === 2) await decideReview(id, 'hide', operator);
    }
    const html = await pageFor('show-account', ann);
    const shown = reviewsOn(html).map((each) => />(The [^<.]*)/.exec(each)?.[1]);
    expect(shown).toEqual(['The newest one', 'The second one', 'The third one']);
    expect(html).toContain('<strong>Draft</strong>');
    expect(html).toContain('<strong>Hidden: spam</strong>');
    for (const path of ['reviews', 'votes', 'names'])
      expect(html).toContain(`<li><a href="https://api.example/ws/account/${path}">`);
    const order = ['Your reviews', 'What moderators have decided', 'Settings', 'Karma and votes'];
    const headings = [...html.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, each]) => `${each}`);
    expect(headings.filter((each) => order.includes(each))).toEqual(order);
    // One form saves all settings, and a hidden review has one form to appeal.
    expect(html.match(/>Save</g)).toHaveLength(1);
    expect(html.match(/<textarea/g)).toHaveLength(1);
    expect(html.match(/A &lt;shop&gt;\./g)).toHaveLength(1);
    expect(await pageFor('show-account', await makeUser())).not.toContain('The newest one');
  });

  test('costs nine units at most, with own reviews of the widest names', async () => {
    const ann = await makeUser();
    for (let i = 0; i < 4; i++) {
      const entity_id = randomUUID();
      await nameEntities({ [entity_id]: '\u{1f3b7}'.repeat(200) });
      await ann.publishes({ entity_id });
    }
    const headers = { cookie: (await signInAs(ann.id)).cookie };
    const { read, write, roundTrips, body } = await measure('show-account', { headers });
    expect(reviewsOn(`${body}`)).toHaveLength(3);
    expect([read <= 9, write, roundTrips <= 4]).toEqual([true, 0, true]);
  });

  test('leads to the public page', async () => {
    const user = await makeUser();
    const html = await pageFor('show-account', user);
    expect(html).toContain(`<a href="https://api.example/ws/user/${user.id}">`);
  });
});
