import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/pages/show-user.ts';
import { userKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { dataIn } from '../helpers/structured-data.ts';
import { beginErasure, makeUser, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

async function show(user_id: string, query: Record<string, string> = {}): Promise<string> {
  const { status, body } = await invoke(handler, { path: { user_id }, query });
  expect(status).toBe(200);
  return body;
}

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
    const [, href = ''] = /rel="next" href="([^"]*)"/.exec(first) ?? [];
    const query = Object.fromEntries(new URL(href).searchParams);
    expect(named(await show(user.id, query))).toHaveLength(1);
    const wrong = await invoke(handler, { path: { user_id: user.id }, query: { cursor: 'x' } });
    expect(wrong.status).toBe(400);
    expect(wrong.body.includes('cursor must be')).toBe(true);
  });

  test('is a 404 page for an account that is not there, or being erased', async () => {
    const gone = await makeUser();
    await gone.publishes();
    await beginErasure(gone);
    for (const user_id of [gone.id, randomUUID(), 'x']) {
      expect((await visitor.readsUser(user_id)).status).toBe(404);
      const { status, body } = await invoke(handler, { path: { user_id } });
      expect(status).toBe(404);
      expect(body.includes('<h1>User not found</h1>')).toBe(true);
    }
  });
});
