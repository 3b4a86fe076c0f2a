import '../../../helpers/engine.ts';
import { measureRun } from '../../../../bin/bench/measure.ts';
import { table } from '../../../../shared/base/table/client.ts';
import type { EntityType } from '../../../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../../../shared/core/entity/metadata.ts';
import { type Entity, recordKey } from '../../../../shared/core/entity/record.ts';
import { updateNames } from '../../../../shared/features/names/update.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem } from '../../../helpers/items.ts';
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
import { beforeSend } from '../../../helpers/sends.ts';

const idsAsked = () => asked.flatMap(({ url }) => idsIn(url));

/** Answers with a list of those of the ids for which there is a name. */
const list =
  (name: (id: string) => object | undefined): Respond =>
  ({ url }, response) => {
    const found = idsIn(url).flatMap((id) => {
      const named = name(id);
      return named ? [{ id: id.toUpperCase(), score: 100, ...named }] : [];
    });
    response.end(JSON.stringify({ created: 'now', count: found.length, works: found }));
  };

describe('a name', () => {
  test('is asked for once, with our user agent, and read without the database', async () => {
    process.env.MUSICDB_AGENT = 'reviews/1.0 (mail@reviews.example)';
    const [entity] = (await reviewed('release_group')) as [Entity];
    expect(await namesOf([entity])).toEqual([undefined]);
    expect(asked).toEqual([]);
    expect(await updateNames()).toEqual({ hasMore: false });
    await updateNames();
    expect(asked.map(({ url }) => url)).toEqual([`/release-group/${entity.entity_id}`]);
    expect(asked[0]?.headers).toMatchObject({
      'user-agent': 'reviews/1.0 (mail@reviews.example)',
      accept: 'application/json',
    });
    delete process.env.MUSICDB_API;
    const url = `https://music.example/release-group/${entity.entity_id}`;
    expect(await findMetadata([entity])).toMatchObject([{ name: 'Blue', url }]);
  });

  test.each<[EntityType, string]>([
    ['release_group', '/music/release-group/'],
    ['recording', '/music/recording/'],
    ['bk_literary_work', '/books/work/'],
    ['bk_edition_group', '/books/edition-group/'],
    ['bk_author', '/books/author/'],
  ])(
    'of a %s is asked for at the database that has it, by the type it spells',
    async (type, at) => {
      process.env.MUSICDB_API = `${origin}/music/{type}/{id}`;
      process.env.BOOKDB_API = `${origin}/books/{type}/{id}`;
      process.env.BOOKDB_PAGE = 'https://books.example/{type}/{id}';
      const [entity] = (await reviewed(type)) as [Entity];
      await updateNames();
      expect(asked.map(({ url }) => url)).toEqual([at + entity.entity_id]);
    },
  );

  test('is asked for again after 30 days, and stays while the database is away', async () => {
    const [entity] = (await reviewed('work')) as [Entity];
    await updateNames();
    answers(json({ name: 'Green' }));
    later(30 * day - minute);
    await updateNames();
    expect(asked).toHaveLength(1);
    answers(json({}, 503));
    later(minute);
    await updateNames();
    expect([asked.length, ...(await namesOf([entity]))]).toEqual([2, 'Blue']);
    answers(json({ name: 'Green' }));
    later(2 * day);
    await updateNames();
    expect(await namesOf([entity])).toEqual(['Green']);
  });

  test.each<[string, Respond]>([
    ['fails', json({ error: 'Busy' }, 503)],
    ['drops the connection', (_, response) => response.destroy()],
    ['answers with invalid JSON', (_, response) => response.end('<html>')],
    [
      'redirects to another host',
      (_, response) => response.writeHead(302, { Location: 'https://other.example/' }).end(),
    ],
  ])('comes soon after the database %s, but not at once', async (_, failing) => {
    const [entity] = (await reviewed('artist')) as [Entity];
    answers(failing);
    await updateNames();
    await updateNames();
    expect([asked.length, ...(await namesOf([entity]))]).toEqual([1, undefined]);
    answers(known);
    later(3 * minute);
    await updateNames();
    expect(await namesOf([entity])).toEqual(['Blue']);
  });

  test.each<[string, Respond]>([
    ['answers null', json(null)],
    ['answers a list', json([])],
    ['answers no name', json({})],
    ['answers an empty name', json({ name: '' })],
    ['answers a number', json({ name: 5 })],
    ['answers 1001 characters', json({ title: 'x'.repeat(1001) })],
  ])('is unknown where the database %s, and holds up no other', async (_, senseless) => {
    const [entity, other] = (await reviewed('artist', 'artist')) as [Entity, Entity];
    answers((request, response) =>
      (request.url?.includes(entity.entity_id) ? senseless : known)(request, response),
    );
    await updateNames();
    later(hour - 1);
    await updateNames();
    expect([asked.length, ...(await namesOf([entity, other]))]).toEqual([2, undefined, 'Blue']);
  });

  test('is not read from an endless answer, of which little is read', async () => {
    let sent = 0;
    await reviewed('place');
    const closed = new Promise((resolve) => {
      answers((_, response) => {
        const chunk = Buffer.alloc(65_536, ' ');
        const send = () => {
          do sent += chunk.length;
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', send).on('close', resolve);
        send();
      });
    });
    await updateNames();
    await closed;
    // At most 256 KB are read. The rest is in transit.
    expect(sent).toBeLessThan(8_000_000);
  });
});

describe('what a database does not know', () => {
  beforeEach(() => {
    answers(json({ error: 'Not Found' }, 404));
  });

  test('is asked for again after an hour, then ever later, and at least once in 60 days', async () => {
    const [entity] = (await reviewed('work')) as [Entity];
    await updateNames();
    const pauses: number[] = [];
    for (let i = 0; i < 14; i++) {
      const due = Number((await readItem(recordKey(entity)))?.due_at);
      pauses.push(due - Date.now());
      stopClock(due);
      await updateNames();
    }
    expect(asked).toHaveLength(15);
    expect(pauses[0]).toBeGreaterThanOrEqual(hour);
    expect(pauses[0]).toBeLessThanOrEqual(2 * hour);
    expect(pauses[4]).toBeGreaterThan(8 * hour);
    expect(Math.max(...pauses)).toBeGreaterThan(30 * day - 1);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60 * day);
    answers(known);
    later(60 * day);
    await updateNames();
    expect(await namesOf([entity])).toEqual(['Blue']);
  });

  test('keeps the name that it had, because databases merge', async () => {
    const [entity] = (await reviewed('work')) as [Entity];
    answers(known);
    await updateNames();
    answers(json({}, 404));
    later(31 * day);
    await updateNames();
    await updateNames();
    expect([asked.length, ...(await namesOf([entity]))]).toEqual([2, 'Blue']);
  });

  test('holds up nobody: 100 such entities are looked up once, and then cost one request an hour', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const nameless = await reviewedWorks(100);
    answers(list(() => undefined));
    await updateNames();
    expect(asked).toHaveLength(101);
    later(2 * hour);
    await updateNames();
    expect(asked).toHaveLength(102);
    asked.length = 0;
    const [named] = (await reviewed('work')) as [Entity];
    answers(list((id) => (id === named.entity_id ? { name: 'Blue' } : undefined)));
    later(minute);
    await updateNames();
    expect(await namesOf([named, nameless[0] as Entity])).toEqual(['Blue', undefined]);
    expect(asked).toHaveLength(1);
  });
});

describe('a database that answers for several entities', () => {
  test('is asked once for each type, the longest due first', async () => {
    process.env.MUSICDB_API = `${origin}/ws/2/{type}?fmt=json&limit=100&query={query}`;
    const works = await reviewedWorks(30);
    later(1_000);
    const groups = await reviewed(...Array<EntityType>(20).fill('release_group'));
    const [first, second, third] = works as [Entity, Entity, Entity];
    answers(
      list((id) =>
        id === first.entity_id ? undefined : { title: id === second.entity_id ? 5 : `Song ${id}` },
      ),
    );
    await updateNames();
    const names = await namesOf([...works, ...groups]);
    expect(names.slice(0, 3)).toEqual([undefined, undefined, `Song ${third.entity_id}`]);
    expect(names.filter((name) => name)).toHaveLength(48);
    const ids = (entities: readonly Entity[]) => entities.map(({ entity_id }) => entity_id);
    const queries = asked.map(({ url = '' }) => {
      const { pathname, searchParams } = new URL(url, origin);
      return `${pathname} ${searchParams.get('query')?.split('(')[0]}`;
    });
    expect(queries.slice(0, 2)).toEqual(['/ws/2/work wid:', '/ws/2/release-group rgid:']);
    expect(
      asked
        .slice(0, 2)
        .flatMap(({ url }) => idsIn(url))
        .toSorted(),
    ).toEqual(ids([...works, ...groups]).toSorted());
    // Those that the list lacks are asked for by their ids.
    expect(
      asked
        .slice(2)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(
      ids([first, second])
        .map((id) => `/ws/2/work/${id}?fmt=json&limit=100`)
        .toSorted(),
    );
  });

  test('is stored without values that cannot be stored or displayed', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const entities = await reviewed('artist', 'artist', 'artist', 'artist');
    const names = ['\ud800', ' Bl\u0007\u0085ue\u202e\u2066 ', ' \u0007 ', 'Red'];
    const ids = entities.map(({ entity_id }) => entity_id);
    answers(list((id) => ({ name: names[ids.indexOf(id)] })));
    await updateNames();
    expect(await namesOf(entities)).toEqual(['\ufffd', 'Blue', undefined, 'Red']);
  });

  test('leaves them unknown if it is busy, or answers without a list', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    for (const answer of [json({}, 404), json({ count: 0 }), json({ works: [{ id: 5 }] })]) {
      const entities = await reviewed('work');
      answers(answer);
      await updateNames();
      expect(await namesOf(entities)).toEqual([undefined]);
      later(day);
    }
    expect(asked.length).toBeGreaterThanOrEqual(3);
  });
});

describe('a run', () => {
  test('without anything due costs one unit, and writes nothing', async () => {
    process.env.BOOKDB_API = `${origin}/{type}/{id}`;
    process.env.BOOKDB_PAGE = 'https://books.example/{type}/{id}';
    const run = await measureRun(() => updateNames());
    expect(run).toMatchObject({ result: { hasMore: false }, read: 1, write: 0, roundTrips: 1 });
  });

  test('asks nobody without configuration, and finds all that waits when there is one', async () => {
    delete process.env.MUSICDB_API;
    const entities = await reviewed('work', 'bk_author');
    const run = await measureRun(() => updateNames());
    expect(run).toMatchObject({ read: 0, write: 0 });
    later(100 * day);
    process.env.MUSICDB_API = `${origin}/{type}/{id}`;
    await updateNames();
    expect(await namesOf(entities)).toEqual(['Blue', undefined]);
  });

  test('leaves a database that fails alone for a minute, and goes on with the other', async () => {
    process.env.BOOKDB_API = `${origin}/{type}/{id}`;
    process.env.BOOKDB_PAGE = 'https://books.example/{type}/{id}';
    const works = await reviewed('work', 'work');
    const [book] = (await reviewed('bk_author')) as [Entity];
    answers((request, response) =>
      request.url?.startsWith('/work')
        ? json({}, 503)(request, response)
        : known(request, response),
    );
    await updateNames();
    await updateNames();
    later(minute - 1);
    await updateNames();
    expect(asked).toHaveLength(2);
    expect(await namesOf([book])).toEqual(['Blue']);
    answers(known);
    later(2);
    await updateNames();
    // The one whose request has failed lets the other go first.
    const isAsked = ({ entity_id }: Entity) => idsAsked().slice(0, 2).includes(entity_id);
    const [failed, other] = works.toSorted((a) => (isAsked(a) ? -1 : 1)) as [Entity, Entity];
    expect(
      idsAsked()
        .filter((id) => id !== book.entity_id)
        .slice(0, 2),
    ).toEqual([failed.entity_id, other.entity_id]);
    expect(await namesOf([other])).toEqual(['Blue']);
  });

  test('is one at a time', async () => {
    const entities = await reviewed('work', 'artist', 'label');
    answers((request, response) => setTimeout(() => known(request, response), 30));
    await Promise.all(Array.from({ length: 5 }, () => updateNames()));
    expect(idsAsked().toSorted()).toEqual(entities.map(({ entity_id }) => entity_id).toSorted());
  });

  test('that dies is followed by another after a minute, which repeats what it had asked', async () => {
    const entities = await reviewed('work');
    const dead = beforeSend(({ input }) => {
      if (JSON.stringify(input).includes('Blue')) throw new Error('dead');
    });
    await expect(updateNames()).rejects.toThrow('dead');
    dead.mockRestore();
    await updateNames();
    expect(await namesOf(entities)).toEqual([undefined]);
    later(minute);
    await updateNames();
    expect(await namesOf(entities)).toEqual(['Blue']);
    expect(asked).toHaveLength(2);
  });

  test('fails if the table does, and not if a database does', async () => {
    await reviewed('work');
    answers(json({}, 500));
    expect(await updateNames()).toEqual({ hasMore: false });
    jest.spyOn(table, 'send').mockImplementation(() => Promise.reject(new Error('away')));
    await expect(updateNames()).rejects.toThrow('away');
  });

  test('ends when its time is over, and says that there is more', async () => {
    await reviewed('work', 'work');
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    answers((request, response) => {
      now += 4_001;
      known(request, response);
    });
    expect(await updateNames({ isShort: true })).toEqual({ hasMore: true });
    expect(asked).toHaveLength(1);
    expect(await updateNames({ isShort: true })).toEqual({ hasMore: true });
    expect(await updateNames({ isShort: true })).toEqual({ hasMore: false });
    expect(asked).toHaveLength(2);
  });
});
