import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { measureRun } from '../../../bin/bench/measure.ts';
import type { EntityType } from '../../../shared/entity/entity-type.ts';
import {
  findMetadata as findInTime,
  findKeptMetadata,
  keepRecords,
} from '../../../shared/entity/metadata.ts';
import { table } from '../../../shared/table/client.ts';
import { metadataKey } from '../../../shared/table/keys.ts';
import { restore, stopClock } from '../../helpers/clock.ts';
import { readItem } from '../../helpers/items.ts';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

const asked: IncomingMessage[] = [];
let respond: Respond;
let origin: string;
const server = createServer((request, response) => {
  asked.push(request);
  respond(request, response);
});

const json =
  (body: unknown, status = 200): Respond =>
  (_, response) => {
    response.statusCode = status;
    response.end(JSON.stringify(body));
  };
const known = json({ name: 'Blue' });

/** Configures the databases. */
function configure(settings: Record<string, string>): void {
  for (const name of Object.keys(process.env)) {
    if (/^(MUSIC|BOOK)DB_/.test(name)) delete process.env[name];
  }
  Object.assign(process.env, settings);
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  configure({});
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  jest.spyOn(console, 'warn').mockImplementation(() => {});
  asked.length = 0;
  respond = known;
  const MUSICDB_PAGE = 'https://music.example/{type}/{id}';
  configure({ MUSICDB_API: `${origin}/{type}/{id}`, MUSICDB_PAGE });
});
afterEach(restore);

const of = (entity_type: EntityType) => ({ entity_id: `${randomUUID()}`, entity_type });
type Entity = ReturnType<typeof of>;

/** Finds metadata with a generous timeout, because this machine may be busy. */
const findMetadata = (entities: readonly Entity[]) => findInTime(entities, 10_000);

async function namesOf(entities: readonly Entity[]): Promise<(string | undefined)[]> {
  return (await findMetadata(entities)).map((metadata) => metadata?.name);
}
const nameOf = async (entity: Entity) => (await namesOf([entity]))[0];

const day = 86_400_000;

describe('the metadata of an entity', () => {
  test('is its name and page, requested with our user agent', async () => {
    process.env.MUSICDB_AGENT = 'reviews/1.0 (mail@reviews.example)';
    const entity = of('release_group');
    const { entity_id: id, entity_type: type } = entity;
    const url = `https://music.example/release-group/${id}`;
    const one = { id, type, name: 'Blue', about: null, url, image: null };
    expect(await findMetadata([entity, entity])).toEqual([one, one]);
    expect(asked.map((request) => request.url)).toEqual([`/release-group/${id}`]);
    expect(asked[0]?.headers).toMatchObject({
      'user-agent': 'reviews/1.0 (mail@reviews.example)',
      accept: 'application/json',
    });
  });

  test('is null without configuration and a stored name, and writes nothing', async () => {
    configure({ MUSICDB_API: `${origin}/{type}/{id}` });
    const run = await measureRun(() => findMetadata([of('work'), of('bk_author')]));
    expect(run).toMatchObject({ result: [null, null], read: 1, write: 0, roundTrips: 1 });
    expect(asked).toEqual([]);
  });

  test('stays without configuration once it is stored, with the page it had', async () => {
    const entity = of('artist');
    const start = Date.now();
    const [found] = await findMetadata([entity]);
    const url = `https://music.example/artist/${entity.entity_id}`;
    expect(found).toMatchObject({ name: 'Blue', url });
    configure({});
    for (const days of [1, 500]) {
      stopClock(start + days * day);
      const run = await measureRun(() => findMetadata([entity]));
      expect(run).toMatchObject({ result: [found], read: 0.5, write: 0, roundTrips: 1 });
    }
    expect(await findKeptMetadata([entity])).toEqual([found]);
  });

  test('stays in the table if there is some, and expires if there is none', async () => {
    const expiry = async ({ entity_id }: Entity) =>
      (await readItem(metadataKey('work', entity_id)))?.expires_at;
    const named = of('work');
    const unknown = of('work');
    const failed = of('work');
    const start = Date.now();
    await nameOf(named);
    respond = json({}, 404);
    await nameOf(unknown);
    respond = json({}, 503);
    await nameOf(failed);
    expect(await expiry(named)).toBeUndefined();
    const inDays = (seconds: unknown) => (Number(seconds) * 1000 - start) / day;
    expect(inDays(await expiry(unknown))).toBeCloseTo(30, 0);
    expect(inDays(await expiry(failed))).toBeCloseTo(30, 0);
    // A request that fails when the name is due does not make it expire.
    stopClock(start + 31 * day);
    expect(await nameOf(named)).toBe('Blue');
    expect(await expiry(named)).toBeUndefined();
  });

  test('may come with data', async () => {
    configure({});
    const entity = of('bk_literary_work');
    const kept = { name: 'Der Process', url: 'https://books.example/der-process' };
    await keepRecords([{ ...entity, ...kept }]);
    const { entity_id: id, entity_type: type } = entity;
    expect(await findMetadata([entity])).toEqual([{ id, type, ...kept, about: null, image: null }]);
    expect(await readItem(metadataKey(type, id))).not.toHaveProperty('expires_at');
  });

  test('is cached for 30 days if there is some', async () => {
    const entity = of('work');
    const start = Date.now();
    expect(await nameOf(entity)).toBe('Blue');
    respond = json({ name: 'Green' });
    stopClock(start + 30 * day - 5_000);
    const kept = await measureRun(() => nameOf(entity));
    expect(kept).toMatchObject({ result: 'Blue', read: 0.5, write: 0, roundTrips: 1 });
    expect(asked).toHaveLength(1);
    stopClock(start + 30 * day + 60_000);
    expect(await nameOf(entity)).toBe('Green');
    expect(asked).toHaveLength(2);
  });

  test('is cached for an hour if there is none', async () => {
    const entity = of('work');
    const start = Date.now();
    respond = json({ error: 'Not Found' }, 404);
    expect(await nameOf(entity)).toBeUndefined();
    respond = known;
    stopClock(start + 3_595_000);
    expect(await nameOf(entity)).toBeUndefined();
    expect(asked).toHaveLength(1);
    stopClock(start + 3_660_000);
    expect(await nameOf(entity)).toBe('Blue');
  });

  test.each<[string, Respond]>([
    ['fails', json({ error: 'Busy' }, 503)],
    ['drops the connection', (_, response) => response.destroy()],
    ['never answers', (_, response) => setTimeout(() => response.destroy(), 2_000).unref()],
    ['answers with invalid JSON', (_, response) => response.end('<html>')],
    ['redirects', (_, response) => response.writeHead(302, { Location: '/elsewhere' }).end()],
  ])('keeps its last value while the database %s, and retries soon', async (_, failing) => {
    const entity = of('artist');
    const start = Date.now();
    await nameOf(entity);
    respond = failing;
    const later = start + 31 * day;
    stopClock(later);
    expect(await nameOf(entity)).toBe('Blue');
    expect(asked.map(({ url = '' }) => url.split('/')[1])).toEqual(['artist', 'artist']);
    respond = json({ name: 'Green' });
    stopClock(later + 5_000);
    expect(await nameOf(entity)).toBe('Blue');
    expect(asked).toHaveLength(2);
    stopClock(later + 11_000);
    expect(await nameOf(entity)).toBe('Green');
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'Blue'],
    ['a list', []],
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a number for a name', { name: 5 }],
    ['a name of 1001 characters', { title: 'x'.repeat(1001) }],
  ])('is null if the database answers %s', async (_, answer) => {
    const entity = of('label');
    respond = json(answer);
    expect(await nameOf(entity)).toBeUndefined();
    expect(await readItem(metadataKey('label', entity.entity_id))).not.toHaveProperty('name');
  });

  test('is null for an endless answer, of which little is read', async () => {
    let sent = 0;
    const closed = new Promise((resolve) => {
      respond = (_, response) => {
        const chunk = Buffer.alloc(65_536, ' ');
        const send = () => {
          do sent += chunk.length;
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', send).on('close', resolve);
        send();
      };
    });
    expect(await nameOf(of('place'))).toBeUndefined();
    await closed;
    // At most 256 KB are read. The rest is in transit.
    expect(sent).toBeLessThan(8_000_000);
  });

  test('never follows a redirect', async () => {
    respond = ({ url = '' }, response) => {
      if (url.startsWith('/private')) return void response.end('{"name":"Secret"}');
      response.writeHead(301, { Location: `${origin}/private` }).end();
    };
    expect(await nameOf(of('event'))).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test('is requested once for all parallel callers', async () => {
    const entity = of('recording');
    respond = (request, response) => setTimeout(() => known(request, response), 50);
    const names = await Promise.all(Array.from({ length: 20 }, () => nameOf(entity)));
    expect(asked).toHaveLength(1);
    expect(names.filter((name) => name === 'Blue')).toHaveLength(1);
    expect(await nameOf(entity)).toBe('Blue');
  });

  test('is null if our own database is down', async () => {
    jest.spyOn(table, 'send').mockImplementation(() => Promise.reject(new Error('away')));
    expect(await nameOf(of('work'))).toBeUndefined();
  });
});

describe('a database that answers for several entities', () => {
  const list =
    (name: (id: string) => object | undefined): Respond =>
    ({ url = '' }, response) => {
      const { searchParams } = new URL(url, origin);
      const asked = searchParams.get('ids') ?? searchParams.get('query') ?? '';
      const found = (asked.match(/[\da-f-]{36}/g) ?? []).flatMap((id) => {
        const named = name(id);
        return named ? [{ id: id.toUpperCase(), score: 100, ...named }] : [];
      });
      response.end(JSON.stringify({ created: 'now', count: found.length, works: found }));
    };

  test('is asked once for each type', async () => {
    process.env.MUSICDB_API = `${origin}/ws/2/{type}?fmt=json&limit=100&query={query}`;
    const works = Array.from({ length: 30 }, () => of('work'));
    const groups = Array.from({ length: 20 }, () => of('release_group'));
    const [first, second, third] = works as [Entity, Entity, Entity];
    respond = list((id) =>
      id === first.entity_id ? undefined : { title: id === second.entity_id ? 5 : `Song ${id}` },
    );
    const names = await namesOf([...works, ...groups]);
    expect(names.slice(0, 3)).toEqual([undefined, undefined, `Song ${third.entity_id}`]);
    expect(names.filter((name) => name)).toHaveLength(48);
    const query = (field: string, entities: readonly Entity[]) =>
      `${field}:(${entities.map(({ entity_id }) => entity_id).join(' OR ')})`;
    const queries = asked.map(({ url = '' }) => {
      const { pathname, searchParams } = new URL(url, origin);
      return `${pathname} ${searchParams.get('query')}`;
    });
    expect(queries.toSorted()).toEqual([
      `/ws/2/release-group ${query('rgid', groups)}`,
      `/ws/2/work ${query('wid', works)}`,
    ]);
    // The first entity is known to have no name. Nothing is known of the other.
    expect(await readItem(metadataKey('work', first.entity_id))).toHaveProperty('name', null);
    expect(await readItem(metadataKey('work', second.entity_id))).not.toHaveProperty('name');
  });

  test('is stored without values that cannot be stored or displayed', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const entities = [of('artist'), of('artist'), of('artist'), of('artist')];
    const names = ['\ud800', ' Bl\u0007\u0085ue\u202e\u2066 ', ' \u0007 ', 'Red'];
    const ids = entities.map(({ entity_id }) => entity_id);
    respond = list((id) => ({ name: names[ids.indexOf(id)] }));
    const expected = ['\ufffd', 'Blue', undefined, 'Red'];
    for (let i = 0; i < 2; i++) expect(await namesOf(entities)).toEqual(expected);
    expect(asked).toHaveLength(1);
  });

  test('may accept ids separated by commas', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    const entities = [of('artist'), of('artist')];
    respond = list((id) => ({ name: id }));
    const ids = entities.map(({ entity_id }) => entity_id);
    expect(await namesOf(entities)).toEqual(ids);
    expect(asked[0]?.url).toBe(`/artist?ids=${ids.join(',')}`);
  });

  test('leaves them unknown if it is busy, or answers without a list', async () => {
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    for (const answer of [json({}, 404), json({ count: 0 }), json({ works: [{ id: 5 }] })]) {
      const entity = of('work');
      respond = answer;
      expect(await nameOf(entity)).toBeUndefined();
      expect(await readItem(metadataKey('work', entity.entity_id))).not.toHaveProperty('name');
    }
  });
});

describe('a database with a limit of one request a second', () => {
  test('is not asked sooner, and first for most entities of a page', async () => {
    process.env.MUSICDB_INTERVAL = '1000';
    process.env.MUSICDB_API = `${origin}/{type}?ids={ids}`;
    process.env.BOOKDB_API = `${origin}/{type}/{id}`;
    process.env.BOOKDB_PAGE = 'https://books.example/{type}/{id}';
    const start = Date.now();
    stopClock(start);
    respond = ({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, origin);
      const ids = searchParams.get('ids')?.split(',');
      const answer = ids ? { found: ids.map((id) => ({ id, name: 'Blue' })) } : { name: pathname };
      response.end(JSON.stringify(answer));
    };
    const page = () => [of('work'), of('artist'), of('artist'), of('bk_author')];
    const pages = [page(), page(), page()];
    const found = await Promise.all(pages.map((each) => findMetadata(each)));
    const paths = () => asked.map(({ url = '' }) => url.match(/^\/\w+/)?.[0]).sort();
    expect(paths()).toEqual(['/artist', '/author', '/author', '/author']);
    expect(found.flat().filter((metadata) => metadata?.type === 'artist')).toHaveLength(2);
    expect(found.flat().filter((metadata) => metadata?.type === 'bk_author')).toHaveLength(3);

    stopClock(start + 999);
    await findMetadata(pages[0] ?? []);
    expect(asked).toHaveLength(4);
    stopClock(start + 1_000);
    for (const each of pages) await findMetadata(each);
    expect(asked).toHaveLength(5);
  });
});

// The last test, because requests may still run when it ends.
describe('a list page', () => {
  test('contains what is known after a second, whatever hangs', async () => {
    const kept = of('work');
    const hanging = of('artist');
    await nameOf(kept);
    respond = () => {};
    const start = performance.now();
    const places = Array.from({ length: 18 }, () => of('place'));
    const found = await findInTime([kept, hanging, ...places]);
    const took = performance.now() - start;
    expect(found.flatMap((metadata) => metadata?.name ?? [])).toEqual(['Blue']);
    expect(took).toBeGreaterThan(800);
    expect(took).toBeLessThan(5_000);
  });
});
