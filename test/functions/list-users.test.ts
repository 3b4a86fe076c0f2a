import { handler as listUsers } from '../../functions/api/list-users.ts';
import { userKey } from '../../shared/core/keys.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser, type Person, visitor } from '../helpers/world.ts';

const list = (query: Record<string, string> = {}) => invoke(listUsers, { query });

describe('GET /user', () => {
  test('is empty at first', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ count: 0, limit: 50, offset: 0, users: [] });
  });

  test('returns all users in the order they joined, a page at a time', async () => {
    const users = [];
    for (let i = 0; i < 60; i++) users.push(await makeUser({ display_name: `User ${i}` }));
    await applyStream();
    const ids = users
      .map(({ created, id }) => created + id)
      .toSorted()
      .map((both) => both.slice(24));
    const first = (await list()).body;
    expect(first).toMatchObject({ count: 60, limit: 50, offset: 0 });
    const { body } = await visitor.readsUser(ids[0] ?? '');
    expect(first.users[0]).toEqual(body.user);

    for (const [limit, offset] of [
      [50, 0],
      [7, 55],
      [0, 0],
      [1, 59],
      [50, 60],
      [50, 1_000_000],
    ] as const) {
      const page = (await list({ limit: `${limit}`, offset: `${offset}` })).body;
      expect(page).toMatchObject({ count: 60, limit, offset });
      expect(page.users.map(({ id }: Person) => id)).toEqual(ids.slice(offset, offset + limit));
    }
  });
});

describe('GET /user/{user_id}', () => {
  test('returns only the public profile', async () => {
    const { id } = await makeUser({ display_name: 'Zoë 🎵', karma: 50 });
    await setAttributes(userKey(id), {
      created: '2024-02-29T12:34:56.789Z',
      email: 'zoe@mail.example',
      musicdb_username: 'zoe',
    });
    for (const user_id of [id, id.toUpperCase()]) {
      const { status, body } = await visitor.readsUser(user_id);
      expect(status).toBe(200);
      const created = 'Thu, 29 Feb 2024 12:34:56 GMT';
      const user = { id, display_name: 'Zoë 🎵', created, karma: 50, user_type: 'Apprentice' };
      expect(body).toEqual({ user });
    }
  });
});
