import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, startGateway } from '../../../../infra/local/gateway/gateway.ts';
import type { Served } from '../../../../infra/local/gateway/log.ts';
import { cpuOf } from '../../../helpers/cpu.ts';
import {
  answerOf,
  events,
  gateway,
  handlers,
  last,
  logged,
  origin,
  policy,
  raw,
  review,
  succeed,
  token,
} from '../../../helpers/gateway.ts';

describe('the response', () => {
  test('may carry repeated headers, and bytes', async () => {
    const named = { Date: 'now', 'WWW-Authenticate': 'Basic', Server: 'mine' };
    const response = await answerOf(() => ({
      statusCode: 201,
      headers: { 'Content-Type': 'image/png', 'X-One': 1, ...named },
      multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] },
      body: Buffer.from([1, 2, 255]).toString('base64'),
      isBase64Encoded: true,
    }));
    expect(response).toHaveStatus(201);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({ 'x-one': '1', 'www-authenticate': 'Basic' });
    expect(headers).toHaveProperty('x-amzn-remapped-server', 'mine');
    expect(headers).not.toHaveProperty('server');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([1, 2, 255]));
  });

  test.each([204, 304])('%i has no body', async (statusCode) => {
    const response = await answerOf(() => ({ statusCode, body: 'dropped' }));
    expect(response).toHaveStatus(statusCode);
    expect(await response.text()).toBe('');
  });

  test.each([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['returns nothing', () => undefined],
    ['returns no status', () => ({ body: '{}' })],
    ['returns an object for a body', () => ({ statusCode: 200, body: {} })],
    [
      'returns an impossible header',
      () => ({ statusCode: 200, headers: { 'a b': 'c' }, body: '' }),
    ],
  ])('is 502 if the handler %s', async (_, handler) => {
    const response = await answerOf(handler);
    expect(response).toHaveStatus(502);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({ error: 'server_error' });
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test('is 503 if the handler takes too long', async () => {
    const response = await answerOf(() => new Promise(() => {}));
    expect(response).toHaveStatus(503);
    expect(await response.json()).toMatchObject({ error: 'service_unavailable' });
  });

  test('reuses the connection for the next request', async () => {
    const get = 'GET /ws/1/review HTTP/1.1\r\nHost: a\r\n';
    const answer = await raw(`${get}\r\n${get}Connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });
});

describe('HEAD', () => {
  test('routes as GET, and omits the length of an omitted body', async () => {
    handlers['get-review'] = () => ({ statusCode: 200, headers: { ETag: '"x"' }, body: '' });
    const head = `HEAD /ws/1/review/${review} HTTP/1.1\r\nHost: a\r\n`;
    const answer = await raw(`${head}\r\n${head}Connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(answer).toContain('ETag: "x"');
    expect(answer).not.toMatch(/content-length|transfer-encoding/i);
    expect(events[0]).toMatchObject({ httpMethod: 'HEAD', resource: '/1/review/{review_id}' });
  });

  test('omits the body of the gateway’s own refusals', async () => {
    const response = await fetch(`${origin}/nothing`, { method: 'HEAD' });
    expect(response).toHaveStatus(404);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(20);
    expect(await response.text()).toBe('');
  });
});

describe('the header Strict-Transport-Security', () => {
  const paths = ['/ws/1/user/me', '/ws/1/review/%', '/elsewhere', '/', '/robots.txt'];
  const answers = async () => {
    const served = paths.map((path) => fetch(origin + path, { redirect: 'manual' }));
    const headers = (await Promise.all(served)).map(({ headers }) => headers);
    const malformed = /^strict-transport-security: (.*)\r\n/im.exec(await raw('nonsense\r\n\r\n'));
    return [
      ...headers.map((each) => each.get('strict-transport-security')),
      malformed?.[1] ?? null,
    ];
  };

  test('is in the gateway’s own answers of a service with HTTPS', async () => {
    process.env.AUTH_URL = 'https://api.example/ws';
    expect(await answers()).toEqual(Array(6).fill('max-age=31536000'));
  });

  test('is absent over plain HTTP', async () => {
    process.env.AUTH_URL = 'http://localhost:3000/ws';
    expect(await answers()).toEqual(Array(6).fill(null));
  });
});

describe('compression', () => {
  const body = `{"text":"${'é'.repeat(600)}"}`;
  const get = (acceptEncoding?: string, method = 'GET') => {
    const encoding = acceptEncoding === undefined ? [] : [`Accept-Encoding: ${acceptEncoding}`];
    return last(`${method} /ws/1/review/${review}`, 'Host: a', ...encoding);
  };
  beforeEach(() => {
    handlers['get-review'] = () => ({ statusCode: 200, headers: { ETag: '"x"' }, body });
  });

  test.each([
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['deflate', 'deflate'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['deflate, gzip', 'gzip'],
    ['gzip;q=0.5, deflate', 'deflate'],
    ['gzip; q=0, deflate;q=0.001', 'deflate'],
    ['identity;q=1, gzip;q=0.1', 'gzip'],
    ['br', 'br'],
    ['zstd, br;q=0.9', 'zstd'],
    ['gzip;q=0, br', 'br'],
    ['*', 'gzip'],
    ['gzip;q=0.0, *', 'deflate'],
    ['gzip;q=0, deflate;q=0, *;q=0.1', 'br'],
  ])('serves a client that accepts %s with %s', async (acceptEncoding, coding) => {
    const answer = await get(acceptEncoding);
    expect(answer).toContain(`Content-Encoding: ${coding}\r\n`);
    expect(answer).toContain('ETag: "x"');
    expect(Number(/content-length: (\d+)/i.exec(answer)?.[1])).toBeLessThan(200);
    // Decoding returns the original body.
    const url = `${gateway.url}/review/${review}`;
    const response = await fetch(url, { headers: { 'Accept-Encoding': acceptEncoding } });
    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(await response.text()).toBe(body);
  });

  test.each([undefined, '', 'identity', '*;q=0', 'identity, *;q=0', 'gzip;q=0', 'gzip;q=x', 'zip'])(
    'does not compress for %p',
    async (acceptEncoding) => {
      const answer = await get(acceptEncoding);
      expect(answer).not.toMatch(/content-encoding/i);
      expect(answer.endsWith(body)).toBe(true);
    },
  );

  test('applies to unencoded bodies of 1024 bytes and more', async () => {
    for (const [statusCode, size, coding] of [
      [200, 1024, 'Content-Encoding: gzip'],
      [200, 1023, undefined],
      [304, 2000, undefined],
      [204, 2000, undefined],
    ]) {
      handlers['get-review'] = () => ({ statusCode, body: 'x'.repeat(Number(size)) });
      expect(/content-encoding.*(?=\r\n)/i.exec(await get('gzip'))?.[0]).toBe(coding);
    }
    const headers = { 'content-encoding': 'br' };
    handlers['get-review'] = () => ({ statusCode: 200, headers, body });
    expect(await get('gzip')).toMatch(/content-encoding: br\r\n/);
  });

  test('compresses binary bodies', async () => {
    const bytes = Buffer.alloc(5_000, 'abc\xff', 'latin1');
    const encoded = { body: bytes.toString('base64'), isBase64Encoded: true };
    const response = await answerOf(() => ({ statusCode: 200, ...encoded }));
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('parses the slowest header at once', async () => {
    const taken = await cpuOf(async () => {
      expect(await get(`gzip${' '.repeat(100_000)}x`)).not.toMatch(/content-encoding/i);
    });
    expect(taken).toBeLessThan(1_000);
  });

  test('does not apply to HEAD', async () => {
    expect(await get('gzip', 'HEAD')).not.toMatch(/content-encoding/i);
  });
});

describe('the log', () => {
  const lines: Served[] = [];
  let requests = 0;
  let own: Gateway;
  beforeAll(async () => {
    const load = async (operation: string) => handlers[operation] ?? succeed;
    own = await startGateway({ port: 0, load, log: (served) => void lines.push(served) });
    own.mount({ path: '/own', serve: (_, response) => void response.writeHead(418).end() });
  });
  afterAll(() => own.stop());

  /** Returns the line of one request, which is written after its response. */
  async function serve(ask: (url: string) => Promise<unknown>) {
    requests += 1;
    await ask(own.url);
    while (lines.length < requests) await sleep(5);
    expect(lines).toHaveLength(requests);
    return lines[requests - 1] as Served;
  }

  test('has one line for each request, when it is over', async () => {
    handlers['list-reviews'] = async () => {
      await sleep(30);
      return { statusCode: 404, body: '' };
    };
    let requestId: string | null = '';
    const served = await serve(async (url) => {
      requestId = (await fetch(`${url}/review?limit=1`)).headers.get('x-amzn-requestid');
    });
    expect(served).toEqual({
      method: 'GET',
      url: '/ws/1/review?limit=1',
      route: '/ws/1/review',
      status: 404,
      milliseconds: expect.any(Number),
      requestId,
    });
    expect(served.milliseconds).toBeGreaterThan(29);
  });

  test('includes responses of the gateway and of other handlers on its port', async () => {
    expect(await serve((url) => fetch(`${url}/user/me`))).toMatchObject({ status: 401 });
    expect(await serve((url) => fetch(new URL('/own/x', url)))).toMatchObject({
      status: 418,
      route: '/own',
    });
    expect(await serve((url) => fetch(url, { method: 'OPTIONS' }))).toMatchObject({ status: 204 });
  });

  test('names the user and the application', async () => {
    const context = { user_id: 'user-1', client_id: 'abc', scope: '' };
    handlers.authorizer = () => policy('Allow', '*', context);
    const byToken = await serve((url) => fetch(`${url}/user/me`, { headers: token }));
    expect(byToken).toMatchObject({ user: 'user-1', application: 'abc' });
    const body = new URLSearchParams({ code: 'x', client_id: '0f' });
    for (const ask of [
      (url: string) => fetch(`${url}/oauth/token`, { method: 'POST', body }),
      (url: string) => fetch(new URL('../oauth/authorize?client_id=0f', `${url}/`)),
    ]) {
      expect(await serve(ask)).toMatchObject({ application: '0f' });
    }
  });

  test('omits the status if the client disconnected', async () => {
    const begun = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    handlers['list-reviews'] = async () => {
      begun.resolve();
      await finished.promise;
      return { statusCode: 200, body: '' };
    };
    const served = await serve(async (url) => {
      const client = new AbortController();
      const answer = fetch(`${url}/review`, { signal: client.signal }).catch(() => {});
      await begun.promise;
      client.abort();
      await answer;
      while (lines.length < requests) await sleep(5);
      finished.resolve();
    });
    expect(served).toMatchObject({ status: undefined });
  });
});
