import { handler as listUsers } from '../../functions/api/list-users.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { enterEmptyTable } from '../helpers/table.ts';
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

describe('GET /user with USER_LIST=authors', () => {
  const all = { limit: '2' };
  const names = ({ body }: { body: { users: { display_name: string }[] } }) =>
    body.users.map(({ display_name }) => display_name);

  test('leaves out who has nothing public, and leads on to the end', async () => {
    const leave = await enterEmptyTable();
    const people: Record<string, Person> = {};
    for (const display_name of ['Reader', 'Ann', 'Drafter', 'Hidden', 'Ben']) {
      stopClock(Date.now() + 1_000);
      people[display_name] = await makeUser({ display_name, created: new Date().toISOString() });
    }
    await people.Ann?.publishes();
    await people.Drafter?.publishes({ is_draft: true });
    await people.Hidden?.publishesHidden();
    await people.Ben?.publishes();
    await applyStream();
    const everybody = ['Reader', 'Ann', 'Drafter', 'Hidden', 'Ben'];
    expect(names(await list())).toEqual(everybody);
    process.env.USER_LIST = 'all';
    expect(names(await list())).toEqual(everybody);
    process.env.USER_LIST = 'authors';
    expect(names(await list())).toEqual(['Ann', 'Ben']);
    expect(names(await list({ limit: '2', offset: '2' }))).toEqual([]);

    const seen: string[] = [];
    for (let query: Record<string, string> | undefined = all; query; ) {
      const page = await list(query);
      expect(page.body.count).toBe(5);
      seen.push(...names(page));
      query = page.body.next && { ...all, cursor: page.body.next };
    }
    expect(seen).toEqual(['Ann', 'Ben']);
    leave();
  });
});
