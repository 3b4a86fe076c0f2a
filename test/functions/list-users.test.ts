import { randomUUID } from 'node:crypto';
import { handler as listUsers } from '../../functions/api/list-users.ts';
import { userKey } from '../../shared/base/table/keys.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { beginErasure, makeUser, type Person, visitor } from '../helpers/world.ts';

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

  test.each(['-1', '51', '1e1', ' 5', '', 'x'])('refuses limit=%j: 400', async (limit) => {
    const body = { description: 'limit must be an integer from 0 to 50' };
    expect(await list({ limit })).toMatchObject({ status: 400, body });
  });

  test.each(['-1', '9007199254740992', '1.5', ''])('refuses offset=%j: 400', async (offset) => {
    expect(await list({ offset })).toHaveStatus(400);
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

  test('returns 404 for an unknown user', async () => {
    const going = await makeUser();
    await beginErasure(going);
    for (const user_id of [randomUUID(), going.id, 'x', '', going.id.replaceAll('-', '')]) {
      const body = { error: 'not_found', description: 'User not found' };
      expect(await visitor.readsUser(user_id)).toMatchObject({ status: 404, body });
    }
  });
});
