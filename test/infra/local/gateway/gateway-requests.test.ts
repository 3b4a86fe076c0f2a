import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { cpuOf } from '../../../helpers/cpu.ts';
import {
  allow,
  answerOf,
  events,
  gateway,
  handlers,
  last,
  post,
  raw,
  succeed,
  token,
} from '../../../helpers/gateway.ts';

describe('limits', () => {
  test('passes on a URL of 256 KB', async () => {
    const ids = 'x'.repeat(256 * 1024 - 100);
    expect(await fetch(`${gateway.url}/reviews?review_ids=${ids}`)).toHaveStatus(200);
    expect(events[0]?.queryStringParameters).toEqual({ review_ids: ids });
  });

  test('parses the slowest query of that length at once', async () => {
    const query = 'a&'.repeat(128 * 1024 - 50);
    const taken = await cpuOf(async () => {
      expect(await fetch(`${gateway.url}/review?${query}`)).toHaveStatus(200);
    });
    expect(taken).toBeLessThan(1_000);
    expect(events[0]?.multiValueQueryStringParameters?.a).toHaveLength(128 * 1024 - 50);
  });

  test('refuses a longer URL: 431', async () => {
    const answer = await raw(`GET /ws/1/review?${'x'.repeat(400_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain('"error":"invalid_request"');
  });

  // 64 KB, and a text of 20,000 characters that take nine bytes each.
  test.each([
    ['x', 245_536, 200],
    ['é', 122_768, 200],
    ['x', 245_537, 413],
    ['é', 122_769, 413],
  ])('limits a body of %j, %d times: %i', async (piece, times, status) => {
    handlers.authorizer = allow;
    const body = piece.repeat(times);
    const response = await post('/review', body, token);
    expect(response).toHaveStatus(status);
    expect(events[0]?.body).toBe(status === 200 ? body : undefined);
    if (status === 413) {
      expect(await response.json()).toEqual({
        error: 'payload_too_large',
        description: 'A JSON body may have at most 128 KB, a form 64 KB, a file 4 MB',
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
    expect(response).toHaveStatus(status);
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
    'asks for a token before it reads a body, which never arrives: 401 %j',
    async (expectation) => {
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

  test('takes a thousand connections at a time, and ends those that wait for a request', async () => {
    const own = await startGateway({ port: 0, load: async () => succeed });
    const open = () => connect(Number(new URL(own.url).port), '127.0.0.1').on('error', () => {});
    const answered = async (socket: Socket) => {
      socket.write('GET /ws/1/review HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(`${await once(socket, 'data')}`).toMatch(/^HTTP\/1.1 200 /);
    };
    const sockets: Socket[] = [];
    const waiting: Socket[] = [];
    // Fewer at once than wait in the queue of a port: the system drops those beyond 511.
    for (let batch = 0; batch < 10; batch++) {
      const some = Array.from({ length: 100 }, open);
      await Promise.all(some.map((socket) => once(socket, 'connect')));
      await answered(some[99] as Socket);
      waiting.push(some.pop() as Socket);
      sockets.push(...some);
    }
    await Promise.all(waiting.slice(0, 9).map((each) => each.closed || once(each, 'close')));
    // The last of those that were answered may have come after the last one was ended.
    waiting[9]?.destroy();
    while (sockets.length < 1_000) sockets.push(open());
    await once(open(), 'close');
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    await answered(sockets[0] as Socket);
    for (const socket of sockets) socket.destroy();
    await own.stop();
  });

  test('takes long heads on a hundred connections only: 431', async () => {
    const own = await startGateway({ port: 0, load: async () => succeed });
    const open = () => connect(Number(new URL(own.url).port), '127.0.0.1').on('error', () => {});
    const head = (size: number) =>
      `GET /ws/1/review?${'x'.repeat(size)} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const sockets = [];
    for (let i = 0; i < 101; i++) {
      sockets.push(open());
      await once(sockets[i] as Socket, 'connect');
    }
    const answers = [];
    for (const [socket, size] of [
      [sockets[99], 250_000],
      [sockets[100], 30_000],
      [sockets[100], 40_000],
    ] as const) {
      socket?.write(head(size));
      answers.push(`${await once(socket as Socket, 'data')}`.slice(0, 12));
    }
    expect(answers).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 431']);
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

describe('invalid requests', () => {
  test.each(['%', '%zz', '%ff'])('%s in the path: 400', async (path) => {
    const answer = await last(`GET /ws/1/review/${path}`, 'Host: a');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"error":"invalid_request"');
  });

  const wrongHosts = [
    '',
    'a b',
    'a/b',
    'a@b',
    '[a',
    'a:b',
    'a\r\nHost: a',
    'a\r\nhost: b',
    'a, b',
    '\u00e9',
  ];
  test.each([
    'nonsense\r\n\r\n',
    'GET /ws/1/review HTTP/1.1\r\nHost: a\r\nConnection: close\r\nbad header\r\n\r\n',
    'GET /ws/1/review HTTP/1.1\r\nConnection: close\r\n\r\n',
    ...wrongHosts.map(
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

  const http10 = 'POST /ws/1/oauth/token HTTP/1.0\r\nConnection: keep-alive\r\n';

  // A proxy that does not know chunks may see another end of the body (RFC 9112 section 6.1).
  test('closes the connection after chunks in HTTP/1.0', async () => {
    const answer = await raw(`${http10}Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 .*\r\nConnection: close\r\n/s);
    expect(events[0]?.body).toBe('a=b');
  });

  test('asks a client of HTTP/1.0 for nothing', async () => {
    const answer = await raw(
      `${http10.replace('keep-alive', 'close')}Expect: 100-continue\r\nContent-Length: 3\r\n\r\na=b`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(events[0]?.body).toBe('a=b');
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
