import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import type { GatewayError } from '../../../../infra/local/gateway/gateway-response.ts';
import { readPublicAddress } from '../../../../infra/local/gateway/public-address.ts';
import { limitUnfinished } from '../../../../infra/local/gateway/unfinished.ts';
import { uncheckedFetch } from '../../../helpers/contract.ts';

// The API does not describe the responses of these functions.
globalThis.fetch = uncheckedFetch;

const address = readPublicAddress('https://example.org');
const load = async () => async () => ({ statusCode: 200, body: '{}' });
const gateway = await startGateway({ port: 0, load, address });
const port = Number(new URL(gateway.local).port);
const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});
afterAll(() => gateway.stop());

const form = '/ws/1/oauth/token';

/** Opens a connection and sends bytes. Returns the connection. */
async function begin(bytes: string, to = port) {
  const socket = connect(to, '127.0.0.1').on('error', () => {});
  open.add(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** The head of a form of so many bytes, and a part of its body. */
const formOf = (client: string, size: number, sent = 'x') =>
  `POST ${form} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\nContent-Length: ${size}\r\n\r\n${sent}`;

/** Leaves so many forms unfinished. */
async function stall(client: string, times: number) {
  const sockets = [];
  for (let i = 0; i < times; i++) sockets.push(await begin(formOf(client, 100)));
  await sleep(50);
  return sockets;
}

async function ask(client: string) {
  const headers = { 'X-Forwarded-For': client };
  const response = await fetch(`${gateway.local}/ws/1/review`, { headers });
  await response.text();
  return response;
}

describe('unfinished forms behind a proxy', () => {
  test('are at most 20 for each address: 429', async () => {
    await stall('203.0.113.1', 19);
    expect(await ask('203.0.113.1')).toHaveStatus(200);
    await stall('203.0.113.1', 1);
    const refused = await ask('203.0.113.1');
    expect(refused).toHaveStatus(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await text(await begin(formOf('203.0.113.1', 100)))).toMatch(/^HTTP\/1.1 429 /);
    expect(await ask('203.0.113.2')).toHaveStatus(200);
  });

  test('make room when they are complete, or given up', async () => {
    const [first, second] = await stall('203.0.113.3', 20);
    expect(await ask('203.0.113.3')).toHaveStatus(429);
    first?.write('x'.repeat(99));
    expect(`${await once(first as Socket, 'data')}`).toMatch(/^HTTP\/1.1 200 /);
    expect(await ask('203.0.113.3')).toHaveStatus(200);
    await stall('203.0.113.3', 1);
    expect(await ask('203.0.113.3')).toHaveStatus(429);
    second?.destroy();
    await sleep(50);
    expect(await ask('203.0.113.3')).toHaveStatus(200);
  });

  test('are at most a few times as many for networks of IPv6', async () => {
    const addressOf = (i: number) => `2001:db8:b:1${(i % 4) + 10}::1`;
    for (let i = 0; i < 40; i++) {
      expect(await ask(addressOf(i))).toHaveStatus(200);
      await stall(addressOf(i), 1);
    }
    expect(await ask(addressOf(0))).toHaveStatus(429);
    expect(await ask('2001:db8:d::1')).toHaveStatus(200);
  });

  test('have no limit from the proxy itself', async () => {
    await stall('127.0.0.1', 25);
    expect(await ask('127.0.0.1')).toHaveStatus(200);
  });
});

describe('a body', () => {
  /** Passes the time for intervals alone. The connections are real. */
  function stopClock() {
    const doNotFake = ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'Date'] as const;
    jest.useFakeTimers({ doNotFake: [...doNotFake] });
  }

  test.each([
    ['9 KB in 10 seconds', 9],
    ['nothing in 10 seconds', 0],
  ])('of %s is ended: 408', async (_, kilobytes) => {
    stopClock();
    const socket = await begin(formOf('203.0.113.4', 100_000, 'x'.repeat(1024 * kilobytes)));
    const answer = text(socket);
    await sleep(100);
    jest.advanceTimersByTime(9_500);
    await sleep(100);
    expect(socket.readyState).toBe('open');
    jest.advanceTimersByTime(2_000);
    expect(await answer).toMatch(/^HTTP\/1.1 408 .*"error":"invalid_request"/s);
  });

  test('of more than 1 KB a second is waited for', async () => {
    stopClock();
    const socket = await begin(formOf('203.0.113.5', 20 * 1100, ''));
    for (let second = 0; second < 19; second++) {
      socket.write('x'.repeat(1100));
      await sleep(20);
      jest.advanceTimersByTime(1_000);
    }
    socket.write('x'.repeat(1100));
    expect(`${await once(socket, 'data')}`).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('without a proxy', () => {
  /** Starts a server for clients of one address. Answers with so many bytes. */
  async function startServer(size: number) {
    const server = createServer();
    const client = { client: '203.0.113.9', isInside: false };
    const unfinished = limitUnfinished(server, () => client);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      try {
        unfinished.admit(client, request, response);
        request.resume().on('end', () => response.end('x'.repeat(size)));
      } catch (error) {
        response.writeHead(429).end((error as GatewayError).message);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as { port: number };
    return { server, port: address.port };
  }

  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

  async function expectAnswer(socket: Socket) {
    expect(`${await once(socket, 'data')}`).toMatch(/^HTTP\/1.1 200 /);
  }

  function stop({ server }: Awaited<ReturnType<typeof startServer>>) {
    server.closeAllConnections();
    server.close();
  }

  test.each([
    ['nothing', ''],
    ['half a head', get.slice(0, 20)],
    ['a request, and half of the next', `${get}${get.slice(0, 20)}`],
    [
      'a body, and half a head',
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx${get.slice(0, 9)}`,
    ],
  ])('closes connections beyond 20 that have sent %s', async (_, bytes) => {
    const own = await startServer(2);
    for (let i = 0; i < 20; i++) {
      const socket = await begin('', own.port);
      // Two writes, because the end of a request and the next head may come in one piece.
      for (const piece of bytes.split(/(?<=\r\n\r\n|x)/)) {
        socket.write(piece);
        await Promise.race([once(socket, 'data'), sleep(20)]);
      }
    }
    await sleep(50);
    const refused = await begin(get, own.port);
    expect(await text(refused)).toBe('');
    for (const socket of open) socket.destroy();
    await sleep(50);
    await expectAnswer(await begin(get, own.port));
    stop(own);
  });

  test('lets any number of connections wait between requests', async () => {
    const own = await startServer(2);
    for (let i = 0; i < 60; i++) await expectAnswer(await begin(get, own.port));
    const [first] = open;
    first?.write(get);
    await expectAnswer(first as Socket);
    stop(own);
  });

  test('counts answers that the client does not read', async () => {
    const own = await startServer(16 * 1024 * 1024);
    for (let i = 0; i < 20; i++) (await begin('', own.port)).pause().write(get);
    await sleep(300);
    const [first] = open;
    expect(await text(await begin(get, own.port))).toBe('');
    first?.destroy();
    await sleep(50);
    await expectAnswer(await begin(get, own.port));
    stop(own);
  });
});
