import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/pages/show-user.ts';
import { userKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { dataIn } from '../helpers/structured-data.ts';
import { nextOn, pageOf } from '../helpers/visit.ts';
import { beginErasure, makeUser, makeUsers, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

const show = (user_id: string, query?: Record<string, string>) =>
  pageOf('show-user', { path: { user_id }, query });

/** The headings of the reviews that a page lists: the names of their entities. */
function named(page: string): string[] {
  const headings = page.matchAll(/<h3><a href="[^"]*\/entity\/[\da-f-]{36}"><bdi>([^<]*)<\/bdi>/g);
  return [...headings].map(([, name = '']) => name);
}

describe('GET /user/{user_id} for people', () => {
  test('shows who somebody is, and the reviews by the names of their entities', async () => {
    const user = await makeUser({ display_name: 'ليلى & Co', karma: 50 });
    await setAttributes(userKey(user.id), { created: '2024-02-29T12:00:00.000Z' });
    const one = randomUUID();
    const two = randomUUID();
    const liked = await user.publishes({ entity_id: one, entity_type: 'work' });
    stopClock(Date.now() + 1_000);
    await user.publishes({ entity_id: two, entity_type: 'bk_author' });
    await user.publishes({ is_draft: true });
    await (await makeUser()).votes(liked);
    await nameEntities({ [one]: 'Blue & Green' }, 'work');
    const page = await show(user.id);
    expect(page).toMatch(/>ل<\/text><\/svg>\s*<div><h1><bdi>ليلى &amp; Co<\/bdi><\/h1>/);
    expect(page).toContain('Member since <time datetime="2024-02-29">29 February 2024</time>');
    const standing =
      '<dd>Apprentice <span class="soft">(by karma: may vote on 50 reviews a day)</span></dd>';
    expect(page).toContain(standing);
    expect(page).toContain('<h2>2 reviews</h2>');
    expect(named(page)).toEqual(['Author without a name', 'Blue &amp; Green']);
    expect(named(await show(user.id, { sort: 'popularity' }))[0]).toBe('Blue &amp; Green');
    expect(page).toContain(`<link rel="canonical" href="${at}/user/${user.id}">`);
    const feed = `${at}/1/user/${user.id}/reviews.atom`;
    expect(page).toContain(`type="application/atom+xml" href="${feed}"`);
    expect(page).toContain('content="2 reviews by ليلى &amp; Co."');
    expect(dataIn(page)).toBeUndefined();
    const { headers } = await visitor.readsUser(user.id);
    expect(headers.link).toContain(`</ws/user/${user.id}>; rel="alternate"; type="text/html"`);
  });

  test('counts the stars of all public reviews, and has the karma last', async () => {
    const user = await makeUser();
    const starsOn = (page: string) =>
      [...page.matchAll(/<th scope="row">(\d) stars?<\/th>[\s\S]*?<td>(\d+)<\/td>/g)].map(
        ([, stars, count]) => `${stars}: ${count}`,
      );
    expect(starsOn(await show(user.id))).toEqual([]);
    for (let i = 0; i < 22; i++) await user.publishes({ rating: i < 20 ? 4 : 1 });
    await user.publishes({ rating: null });
    await user.publishes({ rating: 5, is_draft: true });
    await user.publishesHidden({ rating: 2 });
    const page = await show(user.id);
    expect(starsOn(page)).toEqual(['5: 0', '4: 20', '3: 0', '2: 0', '1: 2']);
    expect(page).toContain('<caption>Stars given</caption>');
    const parts = ['Stars given', '<h2>23 reviews</h2>', '<dt>Karma</dt>'];
    const places = parts.map((part) => page.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test('begins with four favourites, of which readers like the first best', async () => {
    const [user, other] = await makeUsers(2);
    const names = ['Low', 'Four', 'Old', 'Voted', 'Third', 'New'];
    const publish = async (name: string, rating: number, by = user) => {
      const entity_id = randomUUID();
      await nameEntities({ [entity_id]: name });
      stopClock(Date.now() + 1_000);
      return by.publishes({ entity_id, rating });
    };
    for (const rating of [3, 3, 3, 4, 5]) await publish(`With ${rating}`, rating, other);
    const favouritesOn = (page: string) => {
      const [, part = ''] = /<h2>Favourites<\/h2>([\s\S]*?)<\/section>/.exec(page) ?? [];
      return named(part);
    };
    for (const [i, name] of names.slice(0, 4).entries()) {
      const id = await publish(name, [3, 4, 5, 5][i] ?? 5);
      if (name === 'Voted') await (await makeUser()).votes(id);
    }
    expect(favouritesOn(await show(other.id))).toEqual(['With 5', 'With 4']);
    // Four reviews say as much themselves.
    expect(favouritesOn(await show(user.id))).toEqual([]);
    for (const name of names.slice(4)) await publish(name, 5);
    await user.publishes({ rating: 5 });
    const page = await show(user.id);
    // Without a name, nothing is a favourite. Of equal ones, the newest are first.
    expect(favouritesOn(page)).toEqual(['Voted', 'New', 'Third', 'Old']);
    expect(page).not.toContain('reviews below');
    for (let i = 0; i < 14; i++) await user.publishes({ rating: 1 });
    const first = await show(user.id);
    expect(favouritesOn(first)).toEqual(['Voted', 'New', 'Third', 'Old']);
    expect(first).toContain('Of the 20 reviews below');
    // Further pages have none, whatever they list.
    for (let i = 0; i < 6; i++) await user.publishes({ rating: 1 });
    const query = { cursor: nextOn(await show(user.id)) ?? '' };
    expect(named(await show(user.id, query))).toHaveLength(7);
    expect(favouritesOn(await show(user.id, query))).toEqual([]);
  });

  test('calls beginners by no mocking name, and says that there is nothing yet', async () => {
    const { id } = await makeUser();
    const page = await show(id);
    expect(page).toContain('<dd>New <span');
    expect(page).not.toContain('Noob');
    expect(page).toContain('No reviews yet');
    expect(page).toContain('noindex');
  });

  test('walks through many reviews by cursor, and refuses a wrong one', async () => {
    const user = await makeUser();
    for (let i = 0; i < 21; i++) await user.publishes();
    const first = await show(user.id);
    expect(named(first)).toHaveLength(20);
    const query = { cursor: nextOn(first) ?? '' };
    expect(named(await show(user.id, query))).toHaveLength(1);
    const wrong = await invoke(handler, { path: { user_id: user.id }, query: { cursor: 'x' } });
    expect(wrong).toHaveStatus(400);
    expect(wrong.body.includes('cursor must be')).toBe(true);
  });

  test('is a 404 page for an account that is not there, or being erased', async () => {
    const gone = await makeUser();
    await gone.publishes();
    await beginErasure(gone);
    for (const user_id of [gone.id, randomUUID(), 'x']) {
      expect(await visitor.readsUser(user_id)).toHaveStatus(404);
      const { status, body } = await invoke(handler, { path: { user_id } });
      expect(status).toBe(404);
      expect(body.includes('<h1>User not found</h1>')).toBe(true);
    }
  });
});
