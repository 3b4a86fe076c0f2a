import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measureRun } from '../../../../bin/bench/measure.ts';
import type { Key } from '../../../../shared/base/table/item.ts';
import { findMetadata } from '../../../../shared/core/entity/metadata.ts';
import { keepRecords } from '../../../../shared/core/entity/write-records.ts';
import { metadataKey } from '../../../../shared/core/keys.ts';
import { searchPaceKey } from '../../../../shared/features/databases/kinds.ts';
import { searchEntities } from '../../../../shared/features/databases/search.ts';
import { updateNames } from '../../../../shared/features/names/update.ts';
import { restore } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable, setAttributes } from '../../../helpers/items.ts';
import { answers, asked, later, origin, type Respond } from '../../../helpers/name-database.ts';
import { reviewAll } from '../../../helpers/names.ts';
import { afterSend } from '../../../helpers/sends.ts';
import { makeUser } from '../../../helpers/world.ts';

const found =
  (...matches: object[]): Respond =>
  (_, response) =>
    response.end(JSON.stringify({ created: 'now', count: 1, 'release-groups': matches }));

beforeEach(() => {
  answers(found());
  process.env.MUSICDB_SEARCH = `${origin}/ws/2/{type}?fmt=json&query={name}`;
});

/** An update that takes a place. */
interface Taken {
  Key?: Key;
  UpdateExpression?: string;
  ExpressionAttributeValues?: Record<string, unknown>;
}

describe('a search by name', () => {
  test('asks the configured address alone, with our user agent', async () => {
    process.env.MUSICDB_AGENT = 'reviews/1.0 (mail@reviews.example)';
    const name = `@evil.example/ {name} $& AC/DC? #1 "\n\u{1f3b7}`;
    expect(await searchEntities('release_group', name)).toEqual([]);
    expect(asked).toHaveLength(1);
    const { pathname, searchParams } = new URL(asked[0]?.url ?? '', origin);
    expect([pathname, searchParams.get('query')]).toEqual(['/ws/2/release-group', name]);
    expect(asked[0]?.headers['user-agent']).toBe('reviews/1.0 (mail@reviews.example)');
  });

  test('tells matches of one name apart as MusicBrainz does', async () => {
    const one = randomUUID();
    const two = randomUUID();
    answers(
      found(
        {
          id: one.toUpperCase(),
          score: 100,
          title: 'Abbey\u202e Road',
          'first-release-date': '1969-09-26',
          'artist-credit': [{ name: 'The Beatles' }, { name: 'Billy Preston' }],
          disambiguation: '2019\u0000 mix',
        },
        { id: two, name: 'Abbey Road', disambiguation: 5, 'artist-credit': null },
        { id: two, name: 'Repeated' },
        { id: 'no-id', name: 'Lost' },
        { id: randomUUID(), name: ' ' },
      ),
    );
    expect(await searchEntities('release_group', 'abbey road')).toEqual([
      {
        id: one,
        name: 'Abbey Road',
        about: 'The Beatles, Billy Preston · 1969 · 2019 mix',
        by: 'The Beatles, Billy Preston',
        year: '1969',
      },
      { id: two, name: 'Repeated', about: '' },
    ]);
  });

  test('has ten matches at most, with short texts', async () => {
    const long = { name: '\u{1f3b7}'.repeat(400), disambiguation: 'x'.repeat(5_000) };
    answers(found(...Array.from({ length: 20 }, () => ({ id: randomUUID(), ...long }))));
    const matches = await searchEntities('artist', 'sax');
    expect(matches).toHaveLength(10);
    expect(matches[0]).toMatchObject({ name: '\u{1f3b7}'.repeat(200), about: 'x'.repeat(200) });
  });

  test('is answered from the table for an hour, for half a unit', async () => {
    answers(found({ id: randomUUID(), name: 'Blue' }));
    const first = await searchEntities('work', 'blue');
    later(3_590_000);
    const again = await measureRun(() => searchEntities('work', 'blue'));
    expect(again).toMatchObject({ result: first, read: 0.5, write: 0, roundTrips: 1 });
    expect(asked).toHaveLength(1);
    later(20_000);
    await searchEntities('work', 'blue');
    expect(asked).toHaveLength(2);
  });

  test('stores what expires, and no name in the place of another', async () => {
    const known = randomUUID();
    const other = randomUUID();
    const url = 'https://music.example/event/kept';
    await keepRecords([{ entity_id: known, entity_type: 'event', name: 'Kept', url }]);
    answers(found({ id: known, name: 'Found' }, { id: other, name: 'Other' }));
    const before = new Set((await scanTable()).map(({ pk }) => pk));
    await searchEntities('event', 'kept');
    const written = (await scanTable()).filter(({ pk }) => !before.has(pk));
    expect(written.length).toBeGreaterThanOrEqual(2);
    for (const { expires_at } of written) {
      expect(Number(expires_at) * 1000).toBeLessThan(Date.now() + 31 * 86_400_000);
    }
    const entities = [known, other].map((id) => ({ entity_id: id, entity_type: 'event' as const }));
    const names = (await findMetadata(entities)).map((metadata) => metadata?.name);
    expect(names).toEqual(['Kept', 'Other']);
    expect(await readItem(metadataKey('event', known))).not.toHaveProperty('expires_at');
  });

  test.each<[string, Respond]>([
    ['fails', (_, response) => response.writeHead(503).end('{}')],
    ['drops the connection', (_, response) => response.destroy()],
    ['answers with invalid JSON', (_, response) => response.end('<html>')],
    ['answers without a list', (_, response) => response.end('{"count":0}')],
    [
      'redirects elsewhere',
      (_, response) => response.writeHead(302, { Location: 'https://other.example/' }).end(),
    ],
    [
      'answers too much',
      (_, response) => response.end(`{"found":[],"x":"${'x'.repeat(300_000)}"}`),
    ],
  ])('is away if the database %s, and is not kept', async (_, failing) => {
    answers(failing);
    expect(await searchEntities('place', 'stage')).toBe('away');
    expect(asked).toHaveLength(1);
    later(1_000);
    answers(found());
    expect(await searchEntities('place', 'stage')).toEqual([]);
  });

  test('is away without configuration, and costs nothing', async () => {
    delete process.env.MUSICDB_SEARCH;
    const run = await measureRun(() => searchEntities('place', 'stage'));
    expect(run).toMatchObject({ result: 'away', read: 0, write: 0, roundTrips: 0 });
  });
});

describe('a database with an interval', () => {
  /** A place in line or a turn, as stored: its time and how long it lasts, in milliseconds. */
  interface Place {
    key: string;
    begin: number;
  }
  const places: Place[] = [];
  /** Times of requests (epoch ms). */
  const times: number[] = [];

  /** Notes the places that are taken. A place of `milliseconds` ends when the next may begin. */
  function notePlaces(milliseconds: Record<string, number>) {
    afterSend(({ input }) => {
      const writes = input.TransactItems?.flatMap(({ Update }) => Update ?? []) ?? [input];
      for (const { Key, UpdateExpression = '', ...rest } of writes as Taken[]) {
        const length = milliseconds[Key?.sk ?? ''];
        const [, value] = /^SET #at\d+ = (:at\d+)/.exec(UpdateExpression) ?? [];
        if (length === undefined || value === undefined) continue;
        const end = Number(rest.ExpressionAttributeValues?.[value]);
        places.push({ key: `${Key?.sk}`, begin: end - length });
      }
    });
  }

  /** Expects places of a key at least so far apart, and no request before its place. */
  function expectPace(key: string, milliseconds: number) {
    const begins = places
      .filter((place) => place.key === key)
      .map(({ begin }) => begin)
      .toSorted((a, b) => a - b);
    const gaps = begins.slice(1).map((begin, i) => begin - (begins[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(milliseconds);
    for (const [i, time] of times.entries()) {
      // Timers may be early by less than a millisecond.
      expect(time).toBeGreaterThanOrEqual((begins[i] ?? Number.POSITIVE_INFINITY) - 1);
    }
  }

  beforeEach(() => {
    // People wait in line, so the clock goes on.
    restore();
    silence('warn');
    times.length = 0;
    places.length = 0;
    process.env.BOOKDB_SEARCH = process.env.MUSICDB_SEARCH;
    process.env.BOOKDB_PAGE = 'https://books.example/{type}/{id}';
    answers((request, response) => {
      times.push(Date.now());
      if (request.url?.startsWith('/name/')) response.end('{"name":"Blue"}');
      else found()(request, response);
    });
  });

  test('gives ten people at once ten answers, at its pace', async () => {
    process.env.BOOKDB_INTERVAL = '400';
    notePlaces({ 'PACE#SEARCH': 500 });
    const texts = Array.from({ length: 10 }, (_, i) => `person ${i}`);
    const results = await Promise.all(texts.map((text) => searchEntities('bk_author', text)));
    expect(results).toEqual(texts.map(() => []));
    expect(times).toHaveLength(10);
    expectPace('PACE#SEARCH', 500);
  });

  test('is busy at once for whoever would wait for more than 12 seconds', async () => {
    process.env.BOOKDB_INTERVAL = '11000';
    const search = (name: string) => searchEntities('bk_edition_group', name);
    const Key = searchPaceKey('bookdb');
    await setAttributes(Key, { due_at: Date.now() + 12_500 });
    const begin = performance.now();
    expect(await search('e')).toBe('busy');
    expect(performance.now() - begin).toBeLessThan(10_000);
    await setAttributes(Key, { due_at: 0 });
  });

  test('answers everybody who searches for the same at once, by one request', async () => {
    process.env.BOOKDB_INTERVAL = '300';
    const searches = Array.from({ length: 5 }, () => searchEntities('bk_author', 'the same'));
    expect(await Promise.all(searches)).toEqual(Array(5).fill([]));
    expect(times).toHaveLength(1);
  });

  test('keeps its pace for names and searches together, and names have their turns', async () => {
    process.env.BOOKDB_INTERVAL = '100';
    process.env.BOOKDB_API = `${origin}/name/{type}/{id}`;
    notePlaces({ PACE: 100 });
    const entities = Array.from({ length: 12 }, () => {
      return { entity_id: randomUUID(), entity_type: 'bk_author' as const };
    });
    await reviewAll(await makeUser(), entities);
    const texts = Array.from({ length: 5 }, (_, i) => `pace ${i}`);
    const searches = texts.map((text) => searchEntities('bk_author', text));
    await updateNames();
    expect(await Promise.all(searches)).toEqual(texts.map(() => []));
    const names = (await findMetadata(entities)).map((metadata) => metadata?.name);
    expect(names).toEqual(entities.map(() => 'Blue'));
    expectPace('PACE', 100);
  });

  test('gives ten people at once ten answers if it has no interval', async () => {
    notePlaces({ 'PACE#SEARCH': 100 });
    const texts = Array.from({ length: 10 }, (_, i) => `name ${i}`);
    const results = await Promise.all(texts.map((text) => searchEntities('bk_series', text)));
    expect(results).toEqual(texts.map(() => []));
    expect(times).toHaveLength(10);
    expectPace('PACE#SEARCH', 100);
  });
});
