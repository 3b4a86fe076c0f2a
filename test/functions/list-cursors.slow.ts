import { handler as listUsers } from '../../functions/api/list-users.ts';
import { readFromCursor } from '../../shared/base/list/cursor.ts';
import { invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { idsOf, makeUsers, type Person, visitor } from '../helpers/world.ts';

let users: Person[];
const ids: string[] = [];

beforeAll(async () => {
  users = await makeUsers(12);
  for (const user of users) ids.push(await user.publishes({ language: 'en' }));
  await applyStream();
});

const list = (query: Record<string, string>) => visitor.lists(query);
const walkers = [
  ['reviews', (query: Record<string, string>) => list({ sort_order: 'asc', ...query })],
  ['users', (query: Record<string, string>) => invoke(listUsers, { query })],
] as const;

describe('a cursor', () => {
  test.each(walkers)('leads through all %s, with offset and Link', async (name, page) => {
    const seen = [];
    let query: Record<string, string> = { limit: '5' };
    for (let offset = 0; ; offset += 5) {
      const { status, body, headers } = await page(query);
      expect(status).toBe(200);
      expect(body).toMatchObject({ count: 12, limit: 5, offset });
      seen.push(...idsOf(body[name]));
      if (offset === 10) {
        expect(body).not.toHaveProperty('next');
        expect(headers).not.toHaveProperty('link');
        break;
      }
      const [, link = ''] = /^<\?(.*)>; rel="next"$/.exec(headers.link ?? '') ?? [];
      query = Object.fromEntries(new URLSearchParams(link));
      expect(query).toMatchObject({ limit: '5', cursor: body.next });
    }
    const everyone = name === 'users' ? users.map(({ id }) => id) : ids;
    expect(seen.toSorted()).toEqual(everyone.toSorted());
    if (name === 'reviews') expect(seen).toEqual(ids);
  });

  test.each(walkers)('ends with the last full page of %s', async (name, page) => {
    let query: Record<string, string> = { limit: '4' };
    for (const at of [0, 4, 8]) {
      const { body, headers } = await page(query);
      expect(body.offset).toEqual(at);
      expect(body[name].length).toBe(4);
      if (at === 8) expect([body.next, headers.link]).toEqual([undefined, undefined]);
      query = { limit: '4', cursor: body.next };
    }
  });

  test('keeps the filters of its list in the Link, and accepts another limit', async () => {
    const { body, headers } = await list({ language: 'en', sort: 'popularity', limit: '3' });
    expect(headers.link).toContain('language=en');
    const query = { language: 'en', sort: 'popularity', limit: '20', cursor: body.next };
    expect((await list(query)).body.reviews).toHaveLength(9);
  });

  test('neither skips nor repeats entries while others publish and delete', async () => {
    const first = await list({ limit: '4' });
    const [author] = users;
    await (author as Person).publishes();
    const gone = first.body.reviews.at(-1).id;
    await (users[ids.indexOf(gone)] as Person).deletes(gone);
    const rest = await list({ cursor: first.body.next });
    const seen = [...first.body.reviews, ...rest.body.reviews].map(({ id }) => id);
    expect(seen).toEqual(ids.toReversed());
  });

  test('is refused if it is forged, or of another list', async () => {
    const { next } = (await list({ limit: '2' })).body;
    const { next: foreign } = (await invoke(listUsers, { query: { limit: '2' } })).body;
    const refused: Record<string, string>[] = [
      { cursor: '' },
      { cursor: 'x' },
      { cursor: `${next}=` },
      { cursor: next.slice(0, 30) },
      { cursor: next.slice(0, 5) + ((next[5] === 'A' ? 'B' : 'A') as string) + next.slice(6) },
      { cursor: Buffer.alloc(80).toString('base64url') },
      { cursor: foreign },
      { cursor: next, sort_order: 'asc' },
      { cursor: next, sort: 'popularity' },
      { cursor: next, language: 'en' },
      { cursor: next, offset: '2' },
    ];
    for (const query of refused) {
      const { status, body } = await list(query);
      expect([query, status, body.error]).toEqual([query, 400, 'invalid_request']);
    }
    expect(await list({ cursor: next, offset: '0' })).toHaveStatus(200);
  });

  test.each([
    ['popularity', '2026-01-01T00:00:00.000Z'],
    ['published_on', 5n],
  ])('is refused if its sort key does not match %s', async (sort, after) => {
    const query = { sort };
    const page = { limit: 2, offset: 0 };
    const { endAfter } = await readFromCursor(query, page, async () => ({ next: after }));
    const { cursor } = endAfter();
    const read = () => readFromCursor(query, { ...page, cursor }, async () => ({}));
    await expect(read()).rejects.toHaveStatus(400);
  });
});
