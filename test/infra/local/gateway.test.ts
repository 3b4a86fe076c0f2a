import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { startGateway } from '../../../infra/local/gateway.ts';
import type { Handler } from '../../../infra/local/invoke.ts';
import type { Served } from '../../../infra/local/log.ts';
import { uncheckedFetch } from '../../helpers/contract.ts';
import { cpuOf } from '../../helpers/cpu.ts';

// The API does not describe the responses of these functions.
globalThis.fetch = uncheckedFetch;

const review = 'a8f3c1de-0000-4000-8000-000000000001';
const succeed: Handler = () => ({ statusCode: 200, body: '{}' });

const handlers: Record<string, Handler> = {};
const events: APIGatewayProxyEvent[] = [];
const authorizerEvents: unknown[] = [];

const gateway = await startGateway({
  port: 0,
  timeout: 300,
  load: async (operation) => (event, context) => {
    if (operation === 'authorizer') authorizerEvents.push(event);
    else events.push(event as APIGatewayProxyEvent);
    return (handlers[operation] ?? succeed)(event, context);
  },
});
const { origin } = new URL(gateway.url);
const port = Number(new URL(origin).port);
const logged = jest.spyOn(console, 'error').mockImplementation(() => {});

beforeEach(() => {
  for (const operation of Object.keys(handlers)) delete handlers[operation];
  events.length = 0;
  authorizerEvents.length = 0;
  logged.mockClear();
});
afterAll(() => gateway.stop());

/** Returns the response to bytes that no HTTP client would send. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

/** Returns the response to a request with these header lines, the last on its connection. */
function last(request: string, ...headers: string[]): Promise<string> {
  return raw([`${request} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
}

/** Answer of an authorizer. */
function policy(Effect: string, Resource: string, context?: Record<string, unknown>) {
  const policyDocument = { Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] };
  return { principalId: 'user-1', policyDocument, context };
}

const allow: Handler = () => policy('Allow', '*');
const token = { Authorization: 'Bearer t' };

function vote(token?: string, path = `/review/${review}/vote`): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: token };
  return fetch(gateway.url + path, { method: 'PUT', headers, body: '{"vote":true}' });
}

function post(path: string, body: Uint8Array | string, headers = {}): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', headers, body: Buffer.from(body) });
}

/** Asks for a review, which this handler answers. */
function answerOf(handler: Handler): Promise<Response> {
  handlers['get-review'] = handler;
  return fetch(`${gateway.url}/review/${review}`);
}

describe('the event', () => {
  test('matches a Lambda proxy integration', async () => {
    const values = { sort: ['published_on'], limit: ['5', '7'], q: ['a b é'], e: [''] };
    const query = 'sort=published_on&limit=5&limit=7&q=a+b%20%C3%A9&e';
    const headers = { 'X-Forwarded-Proto': 'https', 'User-Agent': 'test' };
    const response = await fetch(`${gateway.url}/review?${query}`, { headers });
    expect(response.status).toBe(200);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      resource: '/1/review',
      path: '/1/review',
      httpMethod: 'GET',
      pathParameters: null,
      queryStringParameters: { sort: 'published_on', limit: '7', q: 'a b é', e: '' },
      multiValueQueryStringParameters: values,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      headers: { 'X-Forwarded-Proto': 'http' },
      multiValueHeaders: { 'X-Forwarded-Proto': ['http'] },
      requestContext: {
        authorizer: null,
        domainName: 'localhost',
        httpMethod: 'GET',
        identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
        path: '/ws/1/review',
        protocol: 'HTTP/1.1',
        requestId: response.headers.get('x-amzn-requestid'),
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        requestTimeEpoch: expect.any(Number),
        resourcePath: '/1/review',
        stage: 'ws',
      },
    });
  });

  test('has null for missing parameters, and decoded path parameters', async () => {
    await fetch(`${gateway.url}/review/a%20%C3%A9%2Fb`);
    expect(events[0]).toMatchObject({
      resource: '/1/review/{review_id}',
      path: '/1/review/a%20%C3%A9%2Fb',
      pathParameters: { review_id: 'a é/b' },
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
    });
  });

  test('keeps names that have a meaning in JavaScript', async () => {
    await fetch(`${gateway.url}/review?__proto__=1&constructor=2&__proto__=3`);
    expect(JSON.parse(JSON.stringify(events[0]?.multiValueQueryStringParameters))).toEqual(
      JSON.parse('{"__proto__":["1","3"],"constructor":["2"]}'),
    );
  });

  test.each([
    ['/review/', '/1/review'],
    ['//review', '/1/review'],
    [`/review//${review}//`, '/1/review/{review_id}'],
    ['/review/languages/', '/1/review/languages'],
  ])('accepts %s, and keeps the path as sent', async (path, resource) => {
    expect((await fetch(gateway.url + path)).status).toBe(200);
    expect(events[0]).toMatchObject({
      resource,
      path: `/1${path}`,
      requestContext: { path: `/ws/1${path}` },
    });
  });

  test('carries the body as text', async () => {
    handlers.authorizer = allow;
    await vote('Bearer t');
    expect(events[0]?.body).toBe('{"vote":true}');
  });
});

describe('a body that is not UTF-8', () => {
  const latin1 = Buffer.from('{"text":"caf\xe9"}', 'latin1');

  test.each([
    ['/review', latin1],
    ['/oauth/token', Buffer.from('a=caf\xe9', 'latin1')],
    ['/nothing', Buffer.from([0xed, 0xa0, 0x80])],
    ['/review', Buffer.from('\ufeff{}', 'utf16le')],
  ])('is refused at %s: 400', async (path, body) => {
    handlers.authorizer = allow;
    const response = await post(path, body, token);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      description: 'The body must be text in UTF-8',
    });
    expect(events).toHaveLength(0);
  });

  test('is not read if a token is missing: 401', async () => {
    expect((await post('/review', latin1)).status).toBe(401);
  });

  test('is left to the function if another charset is named', async () => {
    handlers.authorizer = allow;
    const headers = { ...token, 'Content-Type': 'application/json; charset=iso-8859-1' };
    expect((await post('/review', latin1, headers)).status).toBe(200);
    expect(events[0]?.body).toBe('{"text":"caf\ufffd"}');
  });

  test('excludes valid UTF-8 with a byte order mark or U+FFFD', async () => {
    handlers.authorizer = allow;
    const text = '\ufeff{"text":"\ufffd é 🎷 \u0000"}';
    expect((await post('/review', text, token)).status).toBe(200);
    expect(events[0]?.body).toBe(text);
  });
});

describe('the authorizer', () => {
  test('receives the method ARN as sent, and returns its context as strings', async () => {
    handlers.authorizer = (event) => {
      const { methodArn } = event as { methodArn: string };
      return policy('Allow', methodArn, { user_id: 'user-1', number: 5, flag: true });
    };
    const response = await vote('bearer rva_x-_.~+/==', `/review/${review}/vote/`);
    expect(response.status).toBe(200);
    expect(authorizerEvents).toEqual([
      {
        type: 'TOKEN',
        authorizationToken: 'bearer rva_x-_.~+/==',
        methodArn: `arn:aws:execute-api:local:000000000000:local/ws/PUT/1/review/${review}/vote/`,
      },
    ]);
    expect(events[0]?.requestContext.authorizer).toEqual({
      principalId: 'user-1',
      user_id: 'user-1',
      number: '5',
      flag: 'true',
    });
  });

  const malformed = [undefined, 'Basic abc', 'Bearer', 'Bearer a b', 'Bearer a"'];
  test.each(malformed)('is not called for %p: 401', async (token) => {
    const response = await vote(token);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('invalid_token');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ error: 'invalid_token' });
    expect(authorizerEvents).toHaveLength(0);
  });

  test('is not called for a public route', async () => {
    await fetch(`${gateway.url}/review`, { headers: token });
    expect(authorizerEvents).toHaveLength(0);
    expect(events[0]?.requestContext.authorizer).toBeNull();
  });

  test.each<[string, number, Handler]>([
    ['throws Unauthorized', 401, () => Promise.reject(new Error('Unauthorized'))],
    ['throws something else', 503, () => Promise.reject(new Error('broken'))],
    ['takes too long', 503, () => new Promise(() => {})],
    ['allows another route', 403, () => policy('Allow', 'arn:aws:execute-api:local:*/GET')],
    ['allows the prefix of the route', 200, () => policy('Allow', 'arn:aws:execute-api:local:*')],
    ['denies', 403, () => policy('Deny', '*')],
  ])('%s: %i', async (_, status, handler) => {
    handlers.authorizer = handler;
    const response = await vote('Bearer t');
    expect(response.status).toBe(status);
    expect(events).toHaveLength(status === 200 ? 1 : 0);
    expect(response.headers.get('access-control-allow-origin')).toBe(status === 200 ? null : '*');
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
    if (status < 500) return;
    const request_id = response.headers.get('x-amzn-requestid');
    expect(await response.json()).toMatchObject({ error: 'service_unavailable', request_id });
  });

  test('gives the reason for a refusal in its context', async () => {
    const description = 'The scope vote is missing';
    const challenge = 'Bearer scope="vote"';
    handlers.authorizer = () => policy('Deny', '*', { description, challenge });
    const response = await vote('Bearer t');
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toBe('Bearer scope="vote"');
    expect(await response.json()).toEqual({ error: 'insufficient_scope', description });
  });
});

describe('paths without a route', () => {
  test.each([
    ['GET', '/nothing/here/'],
    ['DELETE', '/review'],
    ['HEAD', '/user/me'],
    ['HEAD', '/nothing'],
    ['PATCH', `/review/${review}`],
  ])('%s %s goes to no-route', async (method, path) => {
    handlers['no-route'] = () => ({ statusCode: 404, body: '{"error":"not_found"}' });
    const response = await fetch(gateway.url + path, { method });
    expect(response.status).toBe(404);
    const pathParameters = { proxy: `1${path}` };
    expect(events[0]).toMatchObject({ resource: '/{proxy+}', pathParameters, httpMethod: method });
    expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"error":"not_found"}');
  });

  test.each(['/ws', '/ws/'])('%s is the root resource', async (path) => {
    await fetch(origin + path);
    expect(events[0]).toMatchObject({ resource: '/', path: '/', pathParameters: null });
  });

  test('the root of the host redirects to the first page', async () => {
    const { status, headers } = await fetch(`${origin}/`, { redirect: 'manual' });
    expect(status).toBe(302);
    const location = new URL(headers.get('location') ?? '', origin);
    expect((await fetch(location)).status).toBe(200);
    expect(events[0]?.resource).toBe(location.pathname.replace(/^\/ws/, ''));
  });

  const outside = ['/review', '/wsx/1/review', '/w%73/1/review'];
  test.each(outside)('%s is outside the stage: 404', async (path) => {
    const response = await fetch(origin + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
    expect(events).toHaveLength(0);
  });
});

describe('CORS', () => {
  const paths = ['/ws/1/review', '/ws/1/nothing', '/elsewhere'];
  test.each(paths)('answers the preflight of %s', async (path) => {
    const response = await fetch(origin + path, { method: 'OPTIONS' });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(await response.text()).toBe('');
    expect(events).toHaveLength(0);
  });
});

describe('limits', () => {
  test('passes on a URL of 256 KB', async () => {
    const ids = 'x'.repeat(256 * 1024 - 100);
    expect((await fetch(`${gateway.url}/reviews?review_ids=${ids}`)).status).toBe(200);
    expect(events[0]?.queryStringParameters).toEqual({ review_ids: ids });
  });

  test('parses the slowest query of that length at once', async () => {
    const query = 'a&'.repeat(128 * 1024 - 50);
    const taken = await cpuOf(async () => {
      expect((await fetch(`${gateway.url}/review?${query}`)).status).toBe(200);
    });
    expect(taken).toBeLessThan(1_000);
    expect(events[0]?.multiValueQueryStringParameters?.a).toHaveLength(128 * 1024 - 50);
  });

  test('refuses a longer URL: 431', async () => {
    const answer = await raw(`GET /ws/1/review?${'x'.repeat(400_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain('"error":"invalid_request"');
  });

  test.each([
    ['x', 128 * 1024, 200],
    ['é', 64 * 1024, 200],
    ['x', 128 * 1024 + 1, 413],
    ['é', 64 * 1024 + 1, 413],
  ])('limits a body of %j, %d times: %i', async (piece, times, status) => {
    handlers.authorizer = allow;
    const body = piece.repeat(times);
    const response = await post('/review', body, token);
    expect(response.status).toBe(status);
    expect(events[0]?.body).toBe(status === 200 ? body : undefined);
    if (status === 413) {
      expect(await response.json()).toEqual({
        error: 'payload_too_large',
        description: 'A JSON body may have at most 128 KB, a form 64 KB',
      });
    }
  });

  // Limits apply to JSON in the answer of a Lambda, 6 MB at most. A line end takes two bytes there.
  test.each([
    ['x', 6, 200],
    ['\n', 3, 200],
    ['x', 6.1, 502],
    ['\n', 3.1, 502],
    ['é', 3.1, 502],
  ])('limits a response of %j, %d million times: %i', async (piece, millions, status) => {
    const body = piece.repeat(millions * 1024 * 1024 - 4_000);
    const response = await answerOf(() => ({ statusCode: 200, body }));
    expect(response.status).toBe(status);
    expect((await response.text()) === body).toBe(status === 200);
  });

  test.each([true, false])(
    'refuses a body over 10 MB (Content-Length sent: %p): 413',
    async (announced) => {
      handlers.authorizer = allow;
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const headers = announced ? { 'Content-Length': `${12 * chunk.length}` } : {};
      const request = httpRequest(`${gateway.url}/review`, {
        method: 'POST',
        headers: { ...token, ...headers },
      });
      // The gateway answers, and closes, before it has all of it.
      request.on('error', () => {});
      for (let i = 0; i < 12; i++) request.write(chunk);
      request.end();
      const [response] = await once(request, 'response');
      expect(response.statusCode).toBe(413);
      expect(JSON.parse(await text(response)).error).toBe('payload_too_large');
      expect(events).toHaveLength(0);
    },
  );

  const announced = 'POST /ws/1/review HTTP/1.1\r\nHost: a\r\nContent-Length: 9900000\r\n';

  test.each(['', 'Expect: 100-continue\r\n'])(
    'asks for a token before it reads a body: 401 (%j)',
    async (expectation) => {
      // The body never arrives.
      expect(await raw(`${announced}${expectation}\r\n`)).toMatch(/^HTTP\/1.1 401 /);
      expect(events).toHaveLength(0);
    },
  );

  test('answers 120 clients without a token and closes, whatever they send', async () => {
    const answers = Array.from({ length: 120 }, () =>
      raw(`${announced}\r\n${'x'.repeat(200_000)}`),
    );
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });

  test('takes a thousand connections at a time', async () => {
    const own = await startGateway({ port: 0, load: async () => succeed });
    const open = () => connect(Number(new URL(own.url).port), '127.0.0.1').on('error', () => {});
    const sockets = Array.from({ length: 1_000 }, open);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await once(open(), 'close');
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    const [first] = sockets;
    first?.write('GET /ws/1/review HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(`${await once(first as Socket, 'data')}`).toMatch(/^HTTP\/1.1 200 /);
    for (const socket of sockets) socket.destroy();
    await own.stop();
  });

  test('refuses a large body before the client sends it', async () => {
    handlers.authorizer = allow;
    const answer = await raw(
      'POST /ws/1/review HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  test('lets a client that asks first send a smaller body', async () => {
    handlers.authorizer = allow;
    const answer = await raw(
      'POST /ws/1/review HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
    expect(events[0]?.body).toBe('{}');
  });
});

describe('a request that does not arrive in time', () => {
  test.each([
    ['nothing', ''],
    ['half a head', 'POST /ws/1/oauth/token HTTP/1.1\r\nHost: a\r\n'],
    ['half a body', 'POST /ws/1/oauth/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx'],
  ])('%s: 408', async (_, bytes) => {
    const own = await startGateway({ port: 0, load: async () => succeed, requestTimeout: 200 });
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    socket.write(bytes);
    const answer = await text(socket);
    await own.stop();
    expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(answer).toContain('Content-Type: application/json');
    expect(answer).toContain('Access-Control-Allow-Origin: *');
    expect(answer).toContain('{"error":"invalid_request","description":');
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
  const { AUTH_URL } = process.env;
  afterEach(() => {
    process.env.AUTH_URL = AUTH_URL;
  });

  test('is in the gateway’s own answers of a service with HTTPS', async () => {
    process.env.AUTH_URL = 'https://api.example/ws';
    expect(await answers()).toEqual(Array(6).fill('max-age=31536000'));
  });

  test('is absent over plain HTTP', async () => {
    process.env.AUTH_URL = 'http://localhost:3000/ws';
    expect(await answers()).toEqual(Array(6).fill(null));
  });
});

describe('invalid requests', () => {
  test.each(['%', '%zz', '%ff'])('%s in the path: 400', async (path) => {
    const answer = await last(`GET /ws/1/review/${path}`, 'Host: a');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"error":"invalid_request"');
  });

  test.each([
    'nonsense\r\n\r\n',
    'GET /ws/1/review HTTP/1.1\r\nHost: a\r\nConnection: close\r\nbad header\r\n\r\n',
    'GET /ws/1/review HTTP/1.1\r\nConnection: close\r\n\r\n',
    ...['', 'a b', 'a/b', 'a@b', '[a', 'a:b', 'a\r\nHost: a', 'a\r\nhost: b', 'a, b', '\u00e9'].map(
      (host) => `GET /ws/1/review HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ),
  ])('%j: 400', async (bytes) => {
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('Content-Type: application/json');
    expect(answer).toContain('"error":"invalid_request"');
    expect(events).toHaveLength(0);
  });

  const hosts = ['a', 'a.example:443', '127.0.0.1:3000', '[::1]:3000', 'a:', 'xn--a_b', 'A'];
  test.each(hosts)('accepts the host %s', async (host) => {
    expect(await last('GET /ws/1/review', `Host: ${host}`)).toMatch(/^HTTP\/1.1 200 /);
  });

  test('accepts HTTP/1.0 without a host', async () => {
    expect(await raw('GET /ws/1/review HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each(['GET', 'POST'])('supports no expectation but 100-continue: 417', async (method) => {
    for (const expectation of ['x', '200-ok', '100-continue, x']) {
      const answer = await raw(
        `${method} /ws/1/review HTTP/1.1\r\nHost: a\r\nExpect: ${expectation}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 417 /);
      expect(answer).toContain('Content-Type: application/json');
      expect(answer).toContain('Access-Control-Allow-Origin: *');
      expect(answer).toContain('"error":"invalid_request"');
    }
    expect(events).toHaveLength(0);
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
    expect(response.status).toBe(404);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(20);
    expect(await response.text()).toBe('');
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

  test.each([undefined, '', 'identity', '*', 'br', 'gzip;q=0', 'gzip;q=0.0, *', 'gzip;q=x', 'zip'])(
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
    expect(response.status).toBe(201);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({ 'x-one': '1', 'www-authenticate': 'Basic' });
    expect(headers).toHaveProperty('x-amzn-remapped-server', 'mine');
    expect(headers).not.toHaveProperty('server');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([1, 2, 255]));
  });

  test.each([204, 304])('%i has no body', async (statusCode) => {
    const response = await answerOf(() => ({ statusCode, body: 'dropped' }));
    expect(response.status).toBe(statusCode);
    expect(await response.text()).toBe('');
  });

  test.each<[string, Handler]>([
    ['throws', () => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      () => {
        throw new Error('broken');
      },
    ],
    ['returns nothing', () => undefined],
    ['returns no status', () => ({ body: '{}' })],
    ['returns an object for a body', () => ({ statusCode: 200, body: {} })],
    [
      'returns an impossible header',
      () => ({ statusCode: 200, headers: { 'a b': 'c' }, body: '' }),
    ],
  ])('is 502 if the handler %s', async (_, handler) => {
    const response = await answerOf(handler);
    expect(response.status).toBe(502);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({ error: 'server_error' });
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test('is 503 if the handler takes too long', async () => {
    const response = await answerOf(() => new Promise(() => {}));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: 'service_unavailable' });
  });

  test('reuses the connection for the next request', async () => {
    const get = 'GET /ws/1/review HTTP/1.1\r\nHost: a\r\n';
    const answer = await raw(`${get}\r\n${get}Connection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  });
});

describe('the log', () => {
  const lines: Served[] = [];
  const load = async (operation: string) => handlers[operation] ?? succeed;
  async function serve(ask: (url: string) => Promise<unknown>): Promise<Served> {
    lines.length = 0;
    const log = (served: Served) => void lines.push(served);
    const own = await startGateway({ port: 0, load, log });
    own.mount({ path: '/own', serve: (_, response) => void response.writeHead(418).end() });
    await ask(own.url);
    await own.stop();
    expect(lines).toHaveLength(1);
    return lines[0] as Served;
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
      roundTrips: 0,
    });
    expect(served.milliseconds).toBeGreaterThan(29);
  });

  test('includes responses of the gateway and of other handlers on its port', async () => {
    expect(await serve((url) => fetch(`${url}/user/me`))).toMatchObject({ status: 401 });
    expect(await serve((url) => fetch(new URL('/own/x', url)))).toMatchObject({ status: 418 });
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
      while (lines.length === 0) await sleep(5);
      finished.resolve();
    });
    expect(served).toMatchObject({ status: undefined });
  });
});

test('listens on the given address', async () => {
  const load = async () => succeed;
  const all = await startGateway({ port: 0, host: '0.0.0.0', load });
  const { port } = new URL(all.url);
  expect(all.url).toBe(`http://localhost:${port}/ws/1`);
  expect((await fetch(`http://127.0.0.2:${port}/ws/1/review`)).status).toBe(200);
  await all.stop();
  const one = await startGateway({ port: 0, host: '127.0.0.3', load });
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.3:\d+\/ws\/1$/);
  expect((await fetch(`${one.url}/review`)).status).toBe(200);
  await one.stop();
});

test('stops after the requests in flight are answered', async () => {
  const started = Promise.withResolvers<void>();
  const answer = Promise.withResolvers();
  const handler = () => {
    started.resolve();
    return answer.promise;
  };
  const own = await startGateway({ port: 0, load: async () => handler });
  const response = fetch(`${own.url}/review`);
  await started.promise;
  const stopped = own.stop();
  await sleep(400);
  await expect(fetch(`${own.url}/review`)).rejects.toThrow();
  answer.resolve({ statusCode: 200, body: '{}' });
  expect((await response).status).toBe(200);
  await stopped;
});

test('answers requests that arrived before it was stopped', async () => {
  const own = await startGateway({ port: 0, load: async () => succeed });
  const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(own.url).port)));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('GET /ws/1/review HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answers] = await Promise.all([Promise.all(sockets.map(text)), own.stop()]);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 200 OK/);
});

test('names the port that is taken', async () => {
  const start = startGateway({ port, load: async () => succeed });
  await expect(start).rejects.toThrow(`port ${port} is in use`);
});
