import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { measureCalmly } from '../../bin/bench/measure.ts';
import { userKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { setAttributes } from '../helpers/items.ts';
import { routeOf } from '../helpers/routes.ts';
import { ask, pageFor, pageOf, requestPage, signInAs, textIn } from '../helpers/visit.ts';
import { makeModerator, makeUser, makeUsers, type Person } from '../helpers/world.ts';

// Public pages as people see them who are signed in: their votes, reviews and next steps.

const at = 'https://api.example/ws';
const author = await makeUser({ display_name: 'Zoë <i>' });
const see = (person: Person, review_id: string) =>
  ask('show-review', person, { path: { review_id } });

describe('votes in lists', () => {
  const entity_id = randomUUID();

  test('the first four have their buttons and state, the others lead to their page', async () => {
    const ben = await makeUser();
    const authors = await makeUsers(7);
    const ids: string[] = [];
    for (const each of authors) {
      stopClock(Date.now() + 1_000);
      ids.unshift(await each.publishes({ entity_id }));
    }
    stopClock(Date.now() + 1_000);
    // The newest are his own and one of stars alone, on which nobody votes.
    const own = await ben.publishes({ entity_id });
    stopClock(Date.now() + 1_000);
    const stars = await author.publishes({ entity_id, text: null });
    await ben.votes(`${ids[1]}`, 'down');
    const path = { entity_id };
    const html = await pageFor('show-entity', ben, { path });
    const of = (id: string) => html.split(`id="review-${id}"`)[1]?.split('</li>')[0] ?? '';
    expect(of(stars)).not.toMatch(/helpful|Yes 0/);
    expect(textIn(of(own))).toContain('Was this helpful? Yes 0 No 0 Your review');
    expect(textIn(of(`${ids[1]}`))).toContain('Yes 0 No 1 You said no. Take back');
    for (const id of [ids[0], ids[2], ids[3]]) {
      expect(textIn(of(`${id}`))).toContain('Was this helpful? Yes 0 No 0');
      expect(of(`${id}`)).toContain(`name="return_to" value="${at}/entity/${entity_id}"`);
      expect(of(`${id}`)).toContain('aria-label="Yes 0: Ann"');
    }
    for (const id of ids.slice(4)) {
      expect(of(id)).toMatch(new RegExp(`href="${at}/review/${id}#vote">.*>Yes 0<.*>No 0<.*</a>`));
      expect(of(id)).not.toContain('<form');
    }
    const { html: anonymous } = {
      html: (await requestPage(routeOf('show-entity'), { path })).body as string,
    };
    expect(anonymous).not.toContain('method="post"');
    expect(anonymous.match(/#vote"><span class="chip">Yes \d</g)).toHaveLength(8);
  });

  test('cost three read units and one round trip more at most, and 30 KB', async () => {
    const ben = await makeUser();
    const authors = await makeUsers(21);
    const text = 'Each of these words is another one: '.repeat(100);
    const busy = randomUUID();
    for (const each of authors) await each.publishes({ entity_id: busy, text });
    for (let i = 0; i < 21; i++) await author.publishes({ text });
    const headers = { cookie: (await signInAs(ben.id)).cookie };
    for (const [operation, path] of [
      ['show-entity', { entity_id: busy }],
      ['show-user', { user_id: author.id }],
    ] as const) {
      const before = await measureCalmly(operation, { path });
      const after = await measureCalmly(operation, { path, headers });
      expect(after.body).toContain('formaction');
      expect(after.read - before.read).toBeGreaterThan(0);
      expect(after.read - before.read).toBeLessThanOrEqual(3);
      expect(after.roundTrips - before.roundTrips).toBeLessThanOrEqual(1);
      expect(gzipSync(after.body).length).toBeLessThanOrEqual(30 * 1024);
    }
  });
});

describe('the page of a review', () => {
  test('leads people who are signed out to the sign-in, and explains it', async () => {
    const id = await author.publishes();
    const body = await pageOf('show-review', { path: { review_id: id } });
    for (const way of ['up', 'down']) {
      expect(body).toContain(`rel="nofollow" href="${at}/review/${id}/vote?vote=${way}"`);
    }
    expect(body).toContain('so you sign in first');
    expect(body).not.toContain('method="post"');
  });

  test('offers its author what authors do, and no vote or report', async () => {
    const id = await author.publishes();
    const { html } = await see(author, id);
    for (const way of ['edit', 'delete'])
      expect(html).toContain(`href="${at}/review/${id}/${way}"`);
    expect(html).toContain(`href="${at}/account/reviews"`);
    expect(html).not.toMatch(/formaction|\/report"/);
  });

  test.each([
    [{ karma: 16 }, `New author · <a href="${at}/help#karma">karma</a> 16<`],
    [{ karma: 50 }, `Apprentice · <a href="${at}/help#karma">karma</a> 50<`],
    [{ karma: 1000 }, `Sorcerer · <a href="${at}/help#karma">karma</a> 1000<`],
    [{ karma: -21 }, `New author · <a href="${at}/help#karma">karma</a> -21<`],
    [{ blocked_at: '2026-01-01T00:00:00.000Z' }, 'A moderator has blocked this account.'],
  ])('explains the type of an author with %j', async (attributes, sentence) => {
    const zoe = await makeUser({ display_name: 'Zoë' });
    const id = await zoe.publishes();
    await setAttributes(userKey(zoe.id), attributes);
    for (const operation of ['show-review', 'show-revisions']) {
      const body = await pageOf(operation, { path: { review_id: id } });
      expect(body).toContain(sentence);
      expect(body).toContain(`<a rel="author" href="${at}/user/${zoe.id}">`);
    }
  });

  test('marks a moderator', async () => {
    const mo = await makeModerator('Mo');
    const id = await mo.publishes();
    for (const operation of ['show-review', 'show-revisions']) {
      const body = await pageOf(operation, { path: { review_id: id } });
      expect(body).toContain('<bdi>Mo</bdi> <span class="role">moderator</span>');
    }
  });
});

describe('the page of an entity', () => {
  test('leads to the own review, or to a new one', async () => {
    const ben = await makeUser();
    const entity_id = randomUUID();
    const path = { entity_id };
    await author.publishes({ entity_id });
    const form = `${at}/review/new?entity_id=${entity_id}&amp;entity_type=release_group`;
    const anonymous = await pageOf('show-entity', { path });
    expect(anonymous).toContain(`href="${form}">Write a review</a>`);
    const show = async () => await pageFor('show-entity', ben, { path });
    expect(await show()).toContain(`href="${form}">Write a review</a>`);
    const own = await ben.publishes({ entity_id, is_draft: true });
    expect(await show()).toContain(`href="${at}/review/${own}/edit">Edit yours</a>`);
    await ben.deletes(own);
    expect(await show()).toContain('>Write a review</a>');
    const hidden = await ben.publishesHidden({ entity_id });
    await ben.deletes(hidden);
    expect(await show()).toContain('A moderator has hidden your review of this.');
  });

  test('knows the type of something unreviewed from the page that found it', async () => {
    const path = { entity_id: randomUUID() };
    const show = (query: Record<string, string>) => pageOf('show-entity', { path, query });
    const form = `${at}/review/new?entity_id=${path.entity_id}&amp;entity_type=work`;
    expect(await show({ entity_type: 'work' })).toContain(`href="${form}">Write a review</a>`);
    for (const query of [{}, { entity_type: 'x' }] as Record<string, string>[]) {
      const page = await show(query);
      expect(page).toContain(`<form action="${at}/entity/${path.entity_id}">`);
      expect(page).toContain('<option value="work">Composition</option>');
    }
  });
});

describe('the page of a user', () => {
  test('greets its owner, and offers the next step if it is empty', async () => {
    const [ann, ben] = await makeUsers(2);
    const path = { user_id: ann.id };
    const own = await pageFor('show-user', ann, { path });
    expect(own).toContain('This is your page as others see it.');
    expect(own).toContain(`href="${at}/find"`);
    const other = await pageFor('show-user', ben, { path });
    expect(other).not.toContain('This is your page');
    expect(other).toContain(`href="${at}/reviews"`);
    expect(other).not.toContain('>Find something to review<');
  });
});
