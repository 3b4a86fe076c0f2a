import { randomUUID } from 'node:crypto';
import { type Entity, readRecord } from '../../../../shared/core/entity/record.ts';
import { updateNames } from '../../../../shared/features/names/update.ts';
import {
  answers,
  asked,
  day,
  hour,
  idsIn,
  json,
  known,
  later,
  minute,
  namesOf,
  origin,
  type Respond,
  reviewed,
  reviewedWorks,
} from '../../../helpers/name-database.ts';

/** Answers with a list of all ids that it is asked for. */
const list: Respond = ({ url }, response) => {
  const works = idsIn(url).map((id) => ({ id: id.toUpperCase(), title: 'Blue' }));
  response.end(JSON.stringify({ created: 'now', count: works.length, works }));
};

describe('an odd answer about one of ten entities', () => {
  const answer =
    (status: number, body = '{}'): Respond =>
    (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  const redirect =
    (status: number, Location: string): Respond =>
    (_, response) =>
      response.writeHead(status, { Location }).end();
  const odd: [string, Respond][] = [
    ...[400, 401, 403, 405, 406, 414, 418, 451, 500, 501, 502, 504].map(
      (status): [string, Respond] => [`${status}`, answer(status)],
    ),
    ['300, which is no redirect', answer(300)],
    ...[301, 302, 303, 307, 308].map((status): [string, Respond] => [
      `${status} to another origin`,
      redirect(status, 'https://other.example/'),
    ]),
    [
      'a redirect to itself',
      (request, response) => redirect(301, `${request.url}`)(request, response),
    ],
    ['a redirect to nowhere', (_, response) => response.writeHead(301).end()],
    ['a redirect that is no address', redirect(301, 'http://')],
    ['a redirect with a password', redirect(301, origin.replace('//', '//a:b@'))],
    ['broken JSON', answer(200, '{"name": "Bl')],
    ['a page for people', answer(200, '<html>')],
    ['nothing', answer(200, '')],
    ['five megabytes', answer(200, JSON.stringify({ name: 'x'.repeat(5_000_000) }))],
    [
      'a broken compression',
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    ],
  ];
  const unknown: [string, Respond][] = [
    ['404', answer(404)],
    ['410', answer(410)],
    ['null', answer(200, 'null')],
    ['a name that is a number', answer(200, '{"name": 5}')],
  ];

  test.each([...odd, ...unknown])(
    '%s: the others have their names in the same run',
    async (_, one) => {
      const entities = await reviewedWorks(10);
      const [first, ...others] = entities as [Entity, ...Entity[]];
      answers((request, response) =>
        (request.url?.includes(first.entity_id) ? one : known)(request, response),
      );
      expect(await updateNames()).toEqual({ hasMore: false });
      expect(await namesOf(entities)).toEqual([undefined, ...others.map(() => 'Blue')]);
      answers(known);
      later(3 * hour);
      await updateNames();
      expect(await namesOf([first])).toEqual(['Blue']);
    },
  );

  // By lists, a status of each hundred stands for all.
  const isOther = ([name]: [string, Respond]) => !/^[45](?!00)/.test(name);
  test.each(
    odd
      .filter(isOther)
      .flatMap(([name, one]) =>
        ['ids={ids}', 'query={query}'].map((query) => [name, query, one] as const),
      ),
  )('%s, by %s: it is found by halves', async (_, query, one) => {
    process.env.MUSICDB_API = `${origin}/{type}?${query}`;
    const entities = await reviewedWorks(10);
    const seventh = entities[6] as Entity;
    answers((request, response) =>
      (request.url?.includes(seventh.entity_id) ? one : list)(request, response),
    );
    await updateNames();
    expect(await namesOf(entities)).toEqual(
      entities.map((each) => (each === seventh ? undefined : 'Blue')),
    );
    // A redirect to itself is asked for twice.
    expect(asked.length).toBeLessThanOrEqual(14);
  });

  test('entries of a list that make no sense are left out', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const entities = await reviewed('work', 'work');
    const works = entities.map(({ entity_id: id }) => ({ id, title: 'Blue' }));
    answers(json({ works: [null, 5, 'work', [], { title: 'No id' }, { id: 7 }, ...works] }));
    await updateNames();
    expect(await namesOf(entities)).toEqual(['Blue', 'Blue']);
  });

  test.each([429, 503])('%i says that the database is busy: it is left alone', async (status) => {
    const entities = await reviewedWorks(10);
    answers(answer(status));
    await updateNames();
    expect([asked.length, await namesOf(entities)]).toEqual([1, entities.map(() => undefined)]);
  });

  test('ten in a row say that the database is broken: it is left alone for a minute', async () => {
    const entities = await reviewedWorks(30);
    answers(answer(500));
    await updateNames();
    await updateNames();
    expect(asked).toHaveLength(10);
    answers(known);
    later(minute);
    await updateNames();
    expect(
      (await namesOf(entities)).filter((name) => name === 'Blue').length,
    ).toBeGreaterThanOrEqual(20);
  });
});

describe('an entity that a database has merged', () => {
  const target = randomUUID();
  const merged =
    (old: string): Respond =>
    ({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, origin);
      const query = searchParams.get('query');
      if (query) {
        const ids = idsIn(query).filter((id) => id !== old);
        return response.end(JSON.stringify({ works: ids.map((id) => ({ id, title: 'Blue' })) }));
      }
      if (pathname.endsWith(old)) {
        return response.writeHead(301, { Location: `/work/${target}?fmt=json` }).end('{}');
      }
      response.end(JSON.stringify({ id: pathname.split('/').pop(), title: 'Kind of Blue' }));
    };

  test.each(['/{type}/{id}?fmt=json', '/{type}?fmt=json&limit=100&query={query}'])(
    'has the name of the other, and offers its id (%s)',
    async (api) => {
      process.env.MUSICDB_API = `${origin}${api}`;
      const entities = await reviewed('work', 'work', 'work');
      const [old] = entities as [Entity];
      answers(merged(old.entity_id));
      await updateNames();
      const [name, ...others] = await namesOf(entities);
      expect(name).toBe('Kind of Blue');
      expect(others).not.toContain(undefined);
      expect(await readRecord(old)).toMatchObject({ merged_into: target, origin: 'musicdb' });
      // It leads nowhere until a moderator says so.
      expect(await readRecord(old)).not.toHaveProperty('leads_to');
    },
  );

  test('offers the id that the answer itself has, and none if that is its own', async () => {
    const [other, same] = (await reviewed('work', 'work')) as [Entity, Entity];
    answers((request, response) => {
      const [id = ''] = idsIn(request.url);
      json({ id: id === other.entity_id ? target : id.toUpperCase(), name: 'Blue' })(
        request,
        response,
      );
    });
    await updateNames();
    expect(await readRecord(other)).toMatchObject({ merged_into: target });
    expect(await readRecord(same)).not.toHaveProperty('merged_into');
  });

  test('keeps its name, and learns later that it is merged', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?query={query}`;
    const [old] = (await reviewed('work')) as [Entity];
    answers(json({ works: [{ id: old.entity_id, title: 'Kind of Blue' }] }));
    await updateNames();
    const before = await readRecord(old);
    answers(merged(old.entity_id));
    later(31 * day);
    await updateNames();
    const after = await readRecord(old);
    expect(after).toMatchObject({ name: 'Kind of Blue', merged_into: target });
    // Readers see the same words.
    expect(after?.version).toBe(before?.version);
  });
});
