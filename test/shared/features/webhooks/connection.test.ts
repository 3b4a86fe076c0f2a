import { subscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { Connection } from '../../../../shared/features/webhooks/connection.ts';
import { startDnsServer } from '../../../helpers/dns-server.ts';
import { listen, serve } from '../../../helpers/listen.ts';
import { certificate } from '../../../helpers/proxy.ts';

const headers = { 'webhook-id': 'rev_1_1' };

/** Sends one request over a connection of its own. */
async function send(address: string, body = '{}') {
  const connection = new Connection(address);
  const delivery = await connection.send({ headers, body });
  connection.close();
  return delivery;
}

/** Connections that this process began. */
let connections = 0;
subscribe('net.client.socket', () => {
  connections++;
});

/** Addresses by name, for each question in turn. */
const zone: Record<string, string[][]> = {};
const { questions } = await startDnsServer((name, family) => {
  const [addresses, ...later] = zone[`${name} ${family}`] ?? [];
  if (later.length > 0) zone[`${name} ${family}`] = later;
  return addresses ?? [];
});

beforeEach(() => {
  process.env.WEBHOOK_ALLOW = '127.0.0.0/8 ::1';
  questions.length = 0;
  connections = 0;
});

interface Received extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  body: string;
}

const received: Received[] = [];
let answer: (response: ServerResponse) => void = () => {};
beforeEach(() => {
  received.length = 0;
  answer = (response) => response.end('thanks');
});

async function receive(request: IncomingMessage, response: ServerResponse) {
  const { method, url, headers } = request;
  received.push({ method, url, headers, body: await text(request) });
  answer(response);
}

const receiver = await serve(createServer(receive));
const { port } = new URL(receiver);

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a server that does this with each connection. */
async function connected(deed: (socket: Socket) => void) {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    deed(socket);
  });
  servers.push(server);
  return listen(server);
}

const failed = (cause: string) => ({ outcome: 'failed', cause, milliseconds: expect.any(Number) });

const empty = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

test('sends JSON with the headers of the signature', async () => {
  expect(await send(`${receiver}/hooks?a=b`, '{"a":"ü"}')).toEqual({
    outcome: 'delivered',
    status: 200,
    milliseconds: expect.any(Number),
    answer: 'thanks',
  });
  expect(received).toEqual([
    {
      method: 'POST',
      url: '/hooks?a=b',
      headers: {
        host: `127.0.0.1:${port}`,
        'content-type': 'application/json',
        'content-length': '10',
        'user-agent': 'review-service/1',
        'webhook-id': 'rev_1_1',
        connection: 'keep-alive',
      },
      body: '{"a":"ü"}',
    },
  ]);
});

test.each([
  [200, 'delivered'],
  [202, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [304, 'failed'],
  [400, 'failed'],
  [404, 'failed'],
  [410, 'gone'],
  [429, 'failed'],
  [500, 'failed'],
  [999, 'failed'],
])('an answer %d is %s', async (status, outcome) => {
  answer = (response) => response.writeHead(status).end();
  expect(await send(receiver)).toMatchObject({ outcome, status });
});

test.each([301, 302, 303, 307, 308])('does not follow a redirect: %d', async (status) => {
  answer = (response) => response.writeHead(status, { Location: `${receiver}/other` }).end();
  expect(await send(receiver)).toMatchObject({ outcome: 'failed', status });
  expect(received).toHaveLength(1);
});

test.each([
  ['0', 0],
  ['120', 120],
  ['28800', 28_800],
  ['28801', 28_800],
  ['99999999999999999999', 28_800],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 28_800],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
])('reads Retry-After: %s', async (value, seconds) => {
  answer = (response) => response.writeHead(429, { 'Retry-After': value }).end();
  const { retryAfter } = await send(receiver);
  expect(retryAfter).toBe(seconds);
});

test('reads Retry-After as a date', async () => {
  const date = new Date(Date.now() + 600_000).toUTCString();
  answer = (response) => response.writeHead(503, { 'Retry-After': date }).end();
  const { retryAfter = 0 } = await send(receiver);
  expect(retryAfter).toBeGreaterThanOrEqual(595);
  expect(retryAfter).toBeLessThanOrEqual(600);
});

test('reads 64 KB of an answer without an end', async () => {
  const isClosed = new Promise((resolve) => {
    answer = (response) => {
      const more = () => {
        while (response.write('a'.repeat(10_000)));
      };
      response.on('drain', more).on('close', resolve);
      more();
    };
  });
  const { outcome, answer: text } = await send(receiver);
  expect({ outcome, length: text?.length }).toEqual({ outcome: 'delivered', length: 65_536 });
  await isClosed;
});

describe('never throws', () => {
  const http = (text: string) => (socket: Socket) => socket.end(text);
  test.each([
    ['a reset after the request', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['an end', (socket) => socket.end()],
    ['no HTTP', http('220 mail.example.com ESMTP\r\n')],
    ['half a header', http('HTTP/1.1 200 OK\r\nContent-Le')],
    ['half a body', http('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')],
    ['a long header', http(`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`)],
    ['two lengths', http('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab')],
    ['a wrong chunk', http('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
  ])('%s', async (_name, deed) => {
    expect(await send(await connected(deed))).toEqual(failed('answer'));
  });

  test('a reset', async () => {
    // It may arrive before the connection is known to be open.
    const cause = expect.stringMatching(/^(connect|answer)$/);
    const url = await connected((socket) => socket.resetAndDestroy());
    expect(await send(url)).toEqual({ ...failed(''), cause });
  });

  test('an interim answer', async () => {
    const url = await connected((socket) => {
      socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${empty}`);
    });
    expect(await send(url)).toMatchObject({ outcome: 'delivered', status: 200 });
  });

  test('another protocol', async () => {
    const url = await connected((socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n');
    });
    expect(await send(url)).toMatchObject({ outcome: 'failed', status: 101 });
  });

  test('a closed port', async () => {
    const server = createTcpServer();
    const url = await listen(server);
    server.close();
    expect(await send(url)).toEqual(failed('connect'));
  });

  test('an answer before the end of a long request', async () => {
    const url = await connected((socket) => {
      socket.write(empty);
      socket.resume();
    });
    expect(await send(url, 'a'.repeat(24_000))).toMatchObject({ outcome: 'delivered' });
  });
});

describe('names', () => {
  test('asks for both families once, and connects to what it was told', async () => {
    zone['two.example 4'] = [['127.0.0.1']];
    zone['two.example 6'] = [['::1']];
    expect(await send(`http://two.example:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(connections).toBeGreaterThan(0);
    expect(received[0]?.headers.host).toBe(`two.example:${port}`);
    expect(questions.toSorted()).toEqual(['two.example 4', 'two.example 6']);
  });

  test('that are unknown have no address', async () => {
    expect(await send('http://nowhere.example/')).toEqual(failed('dns'));
  });

  test.each([
    ['private', ['10.0.0.1'], []],
    ['one of two private', ['127.0.0.1', '10.0.0.1'], []],
    ['the other family private', ['127.0.0.1'], ['fd00::1']],
    ['the other family IPv4-mapped', ['127.0.0.1'], ['::ffff:a00:1']],
    ['the other family NAT64', ['127.0.0.1'], ['64:ff9b::a00:1']],
    ['the other family 6to4', ['127.0.0.1'], ['2002:a00:1::1']],
    ['public, and not the intranet', ['127.0.0.1', '1.1.1.1'], []],
  ])('refuses a name whose addresses are %s', async (_what, four, six) => {
    zone['mixed.example 4'] = [four];
    zone['mixed.example 6'] = [six];
    expect(await send(`http://mixed.example:${port}/`)).toEqual(failed('address'));
    expect(connections).toBe(0);
  });

  test.each([
    ['127.0.0.1', []],
    ['10.0.0.1', []],
    ['169.254.169.254', []],
    ['1.1.1.1', ['::1']],
    ['1.1.1.1', ['fe80::1']],
    ['1.1.1.1', ['64:ff9b::7f00:1']],
  ])('refuses a public name at %s %j', async (four, six) => {
    delete process.env.WEBHOOK_ALLOW;
    zone['public.example 4'] = [[four]];
    zone['public.example 6'] = [six];
    expect(await send('https://public.example/')).toEqual(failed('address'));
    expect([questions.length, connections]).toEqual([2, 0]);
  });

  test('a second answer of the DNS server is not asked for', async () => {
    process.env.WEBHOOK_ALLOW = '127.0.0.1';
    const strangers = [];
    const server = createTcpServer((socket) => strangers.push(socket));
    // The same port at the forbidden address.
    await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.3', resolve));
    zone['rebind.example 4'] = [['127.0.0.1'], ['127.0.0.3']];
    expect(await send(`http://rebind.example:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(await send(`http://rebind.example:${port}/`)).toEqual(failed('address'));
    expect(questions).toHaveLength(4);
    expect([received.length, strangers.length]).toEqual([1, 0]);
    server.close();
  });

  test('with many addresses are tried at the first four', async () => {
    // Nobody listens there.
    zone['many.example 4'] = [Array.from({ length: 200 }, (_, i) => `127.0.1.${i + 1}`)];
    zone['many.example 6'] = [[]];
    expect(await send(`http://many.example:${port}/`)).toEqual(failed('connect'));
    expect(connections).toBeLessThanOrEqual(4);
  });

  test('with many addresses of both families are tried at some of both', async () => {
    zone['both.example 4'] = [Array.from({ length: 200 }, (_, i) => `127.0.1.${i + 1}`)];
    zone['both.example 6'] = [Array.from({ length: 200 }, () => '::1')];
    const server = createServer(receive);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await send(`http://both.example:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(connections).toBeLessThanOrEqual(4);
  });

  test('localhost is this machine, without a question', async () => {
    expect(await send(`http://localhost:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(questions).toEqual([]);
  });
});

describe('a connection', () => {
  test('is kept between requests, and asks for the name once', async () => {
    zone['kept.example 4'] = [['127.0.0.1'], ['10.0.0.1']];
    zone['kept.example 6'] = [[]];
    const connection = new Connection(`http://kept.example:${port}/`);
    for (let i = 0; i < 12; i++) {
      expect(await connection.send({ headers, body: '{}' })).toMatchObject({ status: 200 });
    }
    expect([connections, questions.length]).toEqual([1, 2]);
    // Another connection checks the addresses again.
    connection.close();
    expect(await connection.send({ headers, body: '{}' })).toEqual(failed('address'));
    expect(connections).toBe(1);
    connection.close();
  });

  test('that its receiver has closed is opened again, once', async () => {
    let requests = 0;
    const url = await connected((socket) => {
      socket.on('data', () => {
        requests++;
        // Each connection takes one request, and closes at the next.
        if (requests % 2 === 1) socket.write(empty);
        else socket.destroy();
      });
    });
    const connection = new Connection(url);
    expect(await connection.send({ headers, body: '1' })).toMatchObject({ status: 200 });
    expect(await connection.send({ headers, body: '2' })).toMatchObject({ status: 200 });
    connection.close();
    expect([connections, requests]).toEqual([2, 3]);
  });

  test('that was never kept is not opened again', async () => {
    const url = await connected((socket) => socket.once('data', () => socket.destroy()));
    expect(await send(url)).toEqual(failed('answer'));
    expect(connections).toBe(1);
  });

  test('is not used again after an answer that was too long', async () => {
    answer = (response) => response.end('a'.repeat(100_000));
    const connection = new Connection(receiver);
    for (let i = 0; i < 2; i++) {
      const delivery = await connection.send({ headers, body: '{}' });
      expect(delivery).toMatchObject({ outcome: 'delivered', status: 200 });
    }
    connection.close();
    expect(connections).toBe(2);
  });

  test('is closed after a second without a request, and waits longer for an answer', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await connected((socket) => {
      socket.on('close', () => closed.resolve());
      socket.on('data', () => {
        setTimeout(() => socket.write(empty), 1_200);
      });
    });
    const connection = new Connection(url);
    for (let i = 0; i < 2; i++) {
      expect(await connection.send({ headers, body: '{}' })).toMatchObject({ status: 200 });
    }
    expect(connections).toBe(1);
    await closed.promise;
    expect(await connection.send({ headers, body: '{}' })).toMatchObject({ status: 200 });
    expect(connections).toBe(2);
    connection.close();
  });
});

describe('an answer that is no answer ends at 256 KB', () => {
  /** Sends the same text without end. Returns the bytes that were taken. */
  async function endless(head: string, text: string) {
    const sent = Promise.withResolvers<number>();
    const url = await connected((socket) => {
      socket.on('close', () => sent.resolve(socket.bytesWritten));
      socket.write(head);
      const more = () => {
        while (socket.writable && socket.write(text));
      };
      socket.on('drain', more);
      more();
    });
    const begin = performance.now();
    expect(await send(url)).toEqual(failed('answer'));
    expect(performance.now() - begin).toBeLessThan(10_000);
    return sent.promise;
  }
  // Buffers of the system hold some megabytes beside what is read.
  const most = 16 * 1024 * 1024;

  test('of interim answers', async () => {
    const text = `HTTP/1.1 103 Early Hints\r\nA: ${'a'.repeat(1000)}\r\n\r\n`;
    expect(await endless('', text)).toBeLessThan(most);
  });

  test('of frames around single bytes', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await endless(head, `1;${'a'.repeat(10_000)}\r\na\r\n`)).toBeLessThan(most);
  });
});

describe('TLS', () => {
  const { key, cert } = certificate(['tls.example']);
  const names: string[] = [];
  const SNICallback = (name: string, done: (error: null) => void) => {
    names.push(name);
    done(null);
  };

  test('asks for the name, and verifies its certificate', async () => {
    zone['tls.example 4'] = [['127.0.0.1']];
    zone['other.example 4'] = [['127.0.0.1']];
    const server = createTlsServer({ key, cert, SNICallback }, receive);
    servers.push(server);
    const { port } = new URL(await listen(server));
    expect(await send(`https://tls.example:${port}/`)).toEqual(failed('tls'));
    const authorities = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...authorities, `${cert}`]);
    expect(await send(`https://tls.example:${port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(await send(`https://other.example:${port}/`)).toEqual(failed('tls'));
    tls.setDefaultCACertificates(authorities);
    expect(names).toEqual(['tls.example', 'tls.example', 'other.example']);
    expect(received.map(({ headers }) => headers.host)).toEqual([`tls.example:${port}`]);
  });
});
