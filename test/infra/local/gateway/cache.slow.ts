import { randomUUID } from 'node:crypto';
import { createServer, request as forward } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { importFunction } from '../../../../infra/functions.ts';
import { routes } from '../../../../shared/base/routes.ts';
import { resourceOf } from '../../../../shared/core/http/match-route.ts';
import { serve } from '../../../helpers/listen.ts';
import { startProxy } from '../../../helpers/proxies.ts';
import { startTestStack } from '../../../helpers/stack.ts';

const host = 'reviews.example.org';
const { local } = await startTestStack({ publicUrl: `https://${host}`, insecureSignIn: true });
const { makeModerator, makeUser } = await import('../../../helpers/world.ts');

/** Requests that came through to the origin, by path. */
const arrived = new Map<string, number>();

/**
 * The service. Below one entity stands a page that says who asked, and wrongly lets every cache
 * keep it: the worst answer that a program could give.
 */
const careless = '/ws/entity/careless';
const origin = await serve(
  createServer((request, response) => {
    const { method, headers, url = '' } = request;
    arrived.set(url, 1 + (arrived.get(url) ?? 0));
    if (url.startsWith(careless)) {
      if (url.endsWith('broken')) response.statusCode = 502;
      else response.setHeader('Cache-Control', 'public, s-maxage=60');
      response.end(`${headers.authorization ?? ''} ${headers.cookie ?? ''} ${randomUUID()}`);
      return;
    }
    const passed = forward(new URL(url, local), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    request.pipe(passed);
  }),
);
const proxy = await startProxy('nginx with its cache', host, new URL(origin).host);
afterAll(proxy.stop);
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  proxy.ask(path, { headers, method });

const ann = await makeUser();
const ben = await makeUser({ display_name: 'Ben' });
const moderator = await makeModerator('Mo');
const entity = randomUUID();
const review = await ann.publishes({ entity_id: entity });
await Promise.all(Array.from({ length: 49 }, () => ann.publishes()));

/** Returns the path of a list that nothing else here asks for. */
let offsets = 0;
const freshList = (limit: number) => `/ws/1/review/?limit=${limit}&offset=${offsets++}`;

const session = { Cookie: 'theme=dark; __Host-session=eyJhbGciOiJIUzI1NiJ9.e30.x' };
const token = { Authorization: 'Bearer 0123456789' };

describe('the cache of the server guide', () => {
  test('asks the service once for what many clients ask for', async () => {
    const path = freshList(10);
    const first = await ask(path);
    expect(first).toHaveStatus(200);
    expect(first.headers['x-cache']).toBe('MISS');
    const all = await Promise.all(Array.from({ length: 20 }, () => ask(path)));
    for (const { status, headers, body } of all) {
      expect({ status, cache: headers['x-cache'], body }).toEqual({
        status: 200,
        cache: 'HIT',
        body: first.body,
      });
    }
    expect(arrived.get(path)).toBe(1);
  });
  test('lets one request of many fetch a new answer', async () => {
    const path = freshList(11);
    const all = await Promise.all(Array.from({ length: 20 }, () => ask(path)));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    expect(arrived.get(path)).toBe(1);
  });
  test('keeps exactly what the service calls cacheable, of all public routes', async () => {
    const at = (route: (typeof routes)[number]) =>
      `/ws${resourceOf(route)}`
        .replace('{review_id}', review)
        .replace('{entity_id}', entity)
        .replace('{user_id}', ann.id)
        .replace('{rev}', '1')
        .replace('{guide}', 'lists');
    const paths = routes
      .filter(({ method, access }) => method === 'GET' && access === 'public')
      .map(at)
      .flatMap((path) =>
        path === '/ws/oembed'
          ? [`${path}?url=${encodeURIComponent(`https://${host}/ws/entity/${entity}`)}`]
          : [path],
      );
    const wrong = [];
    let kept = 0;
    for (const path of paths) {
      await ask(path);
      const { status, headers } = await ask(path);
      const isShared = /s-maxage=|max-age=[1-9]/.test(`${headers['cache-control']}`);
      const isKept = headers['x-cache'] === 'HIT';
      if (isShared !== isKept || (isKept && status !== 200)) wrong.push(`${path} ${status}`);
      // A cached location takes If-None-Match away, so nobody would get a 304 there.
      if (/no-cache/.test(`${headers['cache-control']}`) && 'x-cache' in headers) wrong.push(path);
      if (isKept) kept += 1;
    }
    expect(wrong).toEqual([]);
    expect(kept).toBeGreaterThan(12);
  });
  test.each([
    ['is signed in', session],
    ['sends a token', token],
    ['has no cookie but a session', { Cookie: session.Cookie.split('; ')[1] ?? '' }],
  ])('keeps no answer for a client that %s, and gives it no stored one', async (_, headers) => {
    const path = `${careless}/${randomUUID()}`;
    const own = await ask(path, headers);
    expect(own.headers['x-cache']).toBe('BYPASS');
    expect(own.body).toContain(Object.values(headers)[0]);
    const strange = await ask(path);
    expect(strange.headers['x-cache']).toBe('MISS');
    expect(strange.body).not.toContain(Object.values(headers)[0]);
    const again = await ask(path, headers);
    expect(again.body).toContain(Object.values(headers)[0]);
    expect(again.body).not.toBe(own.body);
    expect((await ask(path)).body).toBe(strange.body);
    expect((await ask(path, { Cookie: 'theme=dark' })).body).toBe(strange.body);
  });
  test.each([
    ['a list', () => freshList(10)],
    ['a page', () => `/ws/entity/${randomUUID()}`],
  ])('keeps one copy of %s, whatever cookies and codings clients send', async (_, pathOf) => {
    const path = pathOf();
    const { body } = await ask(path);
    for (const headers of [
      { Cookie: 'theme=dark' },
      { Cookie: `tracker=${randomUUID()}; __Host-session2=a` },
      { 'Accept-Encoding': `br;q=0.${arrived.size}, deflate` },
      { 'Accept-Encoding': 'gzip;q=0, *' },
    ] as Record<string, string>[]) {
      const again = await ask(path, headers);
      expect([again.headers['x-cache'], again.body]).toEqual(['HIT', body]);
    }
    expect((await ask(path, { 'Accept-Encoding': 'gzip, br' })).headers['x-cache']).toBe('MISS');
    const compressed = await ask(path, { 'Accept-Encoding': 'deflate, gzip;q=0.5' });
    expect(compressed.headers).toMatchObject({ 'x-cache': 'HIT', 'content-encoding': 'gzip' });
    expect(arrived.get(path)).toBe(2);
  });
  test.each([
    'x=1',
    'utm_source=a',
    '%6Cimit=1',
    'limit',
    'Limit=5',
    'x',
    '&',
    '=',
    'limit=1;x=2&y=',
  ])('keeps nothing under the parameter %s, which the service does not know', async (parameter) => {
    const path = freshList(10);
    const { body } = await ask(path);
    const { headers } = await ask(`${path}&${parameter}`);
    expect(headers['x-cache']).toBe('BYPASS');
    expect((await ask(path)).body).toBe(body);
  });
  test('knows every parameter of the public routes', async () => {
    const unknown = [];
    let known = 0;
    for (const route of routes) {
      if (route.method !== 'GET' || route.access !== 'public') continue;
      const { request } = await importFunction(route.operation);
      const path = `/ws${resourceOf(route)}`.replaceAll(/{\w+}/g, randomUUID());
      const { headers } = await ask(path);
      if (!('x-cache' in headers)) continue;
      for (const name of Object.keys(request?.entries?.query?.entries ?? {})) {
        known += 1;
        const cache = (await ask(`${path}?${name}=`)).headers['x-cache'];
        // The page with the buttons for a vote is nobody's but the visitor's.
        if (cache === 'BYPASS' && name !== 'vote') unknown.push(`${route.operation} ${name}`);
      }
    }
    expect(unknown).toEqual([]);
    expect(known).toBeGreaterThan(30);
  });
  test('keeps no errors and no answer to a change', async () => {
    const missing = `/ws/entity/${randomUUID()}x`;
    for (const _ of [1, 2]) {
      const { status, headers } = await ask(missing);
      expect([status, headers['x-cache']]).toEqual([404, 'MISS']);
    }
    const broken = `${careless}/broken`;
    expect((await ask(broken)).body).not.toBe((await ask(broken)).body);
    const path = `${careless}/${randomUUID()}`;
    const bodies = [await ask(path, {}, 'POST'), await ask(path, {}, 'POST'), await ask(path)];
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(3);
  });
  test.each([
    ['a list', '/ws/1/review/?limit=3'],
    ['the page of an entity', `/ws/entity/${entity}`],
    ['one review', `/ws/1/review/${review}`],
  ])('answers 304 for %s to clients that have it, signed in or not', async (_, path) => {
    const { headers } = await ask(path);
    const etag = `${headers.etag}`;
    expect(etag).toMatch(/^"/);
    for (const who of [{}, token, session]) {
      const known = await ask(path, { 'If-None-Match': etag, ...who });
      expect([known.status, known.body]).toEqual([304, '']);
      const other = await ask(path, { 'If-None-Match': '"other"', ...who });
      expect(other).toHaveStatus(200);
    }
  });
  test('compresses for clients that ask for it, and for no others', async () => {
    const path = freshList(10);
    const bytes = await ask(path, { 'Accept-Encoding': 'gzip' });
    expect(bytes.headers['content-encoding']).toBe('gzip');
    const plain = await ask(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(plain.body).reviews).toHaveLength(10);
    expect(`${plain.headers.vary}`).toBe('Accept-Encoding');
    const again = await ask(path, { 'Accept-Encoding': 'gzip' });
    expect(again.headers['x-cache']).toBe('HIT');
    expect(again.headers['content-encoding']).toBe('gzip');
  });
  test('shows a hidden review for at most 10 seconds', async () => {
    const shown = await ben.publishes();
    const path = `/ws/review/${shown}`;
    expect(await ask(path)).toHaveStatus(200);
    await moderator.decides(shown, 'hide');
    expect(await ask(path)).toHaveStatus(200);
    const hidden = Date.now();
    while ((await ask(path)).status === 200) await sleep(200);
    expect(await ask(path)).toHaveStatus(404);
    // One second, because nginx counts whole seconds.
    expect(Date.now() - hidden).toBeLessThan(11_500);
  });
});

describe('requests a second', () => {
  /** Returns how many requests of 8 clients are answered in a second. */
  async function rateOf(path: string, headers?: Record<string, string>) {
    const seconds = 2;
    let count = 0;
    const end = performance.now() + 1000 * seconds;
    const client = async () => {
      while (performance.now() < end) {
        const { status } = await ask(path, headers);
        if (status !== 200) throw new Error(`${status} ${path}`);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    return count / seconds;
  }

  test.each([
    ['a list of 50', '/ws/1/review/?limit=50'],
    ['the page of an entity', `/ws/entity/${entity}`],
  ])('of %s are several times as many from the cache', async (name, path) => {
    // A token makes nginx ask the service, which answers a public route to everybody alike.
    const without = await rateOf(path, token);
    const cached = await rateOf(path);
    const ratio = cached / without;
    process.stdout.write(
      `${name}: ${without.toFixed(0)} a second, ${cached.toFixed(0)} cached: ${ratio.toFixed(1)} times\n`,
    );
    expect(ratio).toBeGreaterThan(3);
  });
});
