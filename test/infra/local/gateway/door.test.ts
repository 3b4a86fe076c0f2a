import { once } from 'node:events';
import { Agent, get, Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Door, openDoor } from '../../../../infra/local/gateway/door.ts';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { uncheckedFetch } from '../../../helpers/contract.ts';

// The API does not describe the responses of these functions.
globalThis.fetch = uncheckedFetch;

/** A stop cuts connections by this only if it takes eight seconds. */
let cut: jest.SpiedFunction<Server['closeAllConnections']>;
beforeEach(() => {
  cut = jest.spyOn(Server.prototype, 'closeAllConnections');
});

const succeed = async () => {
  await sleep(3);
  return { statusCode: 200, body: '{}' };
};

/** A client that sends one request after the other. Returns how its last one ended. */
async function requestUntilRefused(url: string, agent: Agent) {
  for (;;) {
    try {
      const sent = get(`${url}/review`, { agent });
      const [response] = await once(sent, 'response');
      await once(response.resume(), 'end');
    } catch (error) {
      const { code, errors } = error as { code?: string; errors?: { code: string }[] };
      return errors?.[0]?.code ?? `${code}`;
    }
  }
}

describe('a stop answers what has arrived', () => {
  test.each([
    ['on kept connections', true],
    ['on a connection for each request', false],
  ])('of 16 clients %s', async (_, keepAlive) => {
    for (let round = 0; round < 3; round++) {
      const gateway = await startGateway({ port: 0, load: async () => succeed });
      const agent = new Agent({ keepAlive });
      const clients = Array.from({ length: 16 }, () => requestUntilRefused(gateway.url, agent));
      await sleep(100);
      await gateway.stop();
      expect(cut).not.toHaveBeenCalled();
      expect(await Promise.all(clients)).toEqual(Array(16).fill('ECONNREFUSED'));
      agent.destroy();
    }
  });

  test('with Connection: close, also for a request that comes after the signal', async () => {
    const gateway = await startGateway({ port: 0, load: async () => succeed });
    const agent = new Agent({ keepAlive: true });
    const ask = async () => {
      const [response] = await once(get(`${gateway.url}/review`, { agent }), 'response');
      await once(response.resume(), 'end');
      return response.headers.connection;
    };
    expect(await ask()).toBe('keep-alive');
    const stopped = gateway.stop();
    await sleep(150);
    expect(await ask()).toBe('close');
    await stopped;
    agent.destroy();
  });

  test('and does not wait for connections that send nothing', async () => {
    const gateway = await startGateway({ port: 0, load: async () => succeed });
    const silent = connect(Number(new URL(gateway.url).port));
    await once(silent, 'connect');
    await gateway.stop();
    expect(cut).not.toHaveBeenCalled();
    silent.destroy();
  });
});

describe('a connection that waits for its next request', () => {
  test('is kept for longer than proxies keep theirs', async () => {
    const gateway = await startGateway({ port: 0, load: async () => succeed });
    const agent = new Agent({ keepAlive: true });
    const [response] = await once(get(`${gateway.url}/review`, { agent }), 'response');
    await once(response.resume(), 'end');
    // Caddy keeps its connections for 120 s.
    const [, seconds] = /^timeout=(\d+)$/.exec(`${response.headers['keep-alive']}`) ?? [];
    expect(Number(seconds)).toBeGreaterThan(120);
    await gateway.stop();
    agent.destroy();
  });

  test('ends when there are many, so that others find room', async () => {
    const gateway = await startGateway({ port: 0, load: async () => succeed });
    const { port } = new URL(gateway.url);
    let ended = 0;
    const sockets = await Promise.all(
      Array.from({ length: 950 }, async () => {
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => {}).on('close', () => ended++);
        socket.write('HEAD /ws/1/review HTTP/1.1\r\nHost: a\r\n\r\n');
        await Promise.race([once(socket, 'data'), once(socket, 'close')]);
        return socket;
      }),
    );
    expect(await fetch(`${gateway.url}/review`)).toHaveStatus(200);
    expect(ended).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
  });
});

describe('a port that is open before the service is ready', () => {
  const load = async () => succeed;
  const urlOf = ({ port }: Door) => `http://127.0.0.1:${port}/ws/1/review`;

  test('answers a request once the service begins', async () => {
    const door = await openDoor({ port: 0 });
    let isAnswered = false;
    const response = fetch(urlOf(door)).finally(() => {
      isAnswered = true;
    });
    const gateway = await startGateway({ port: door.port, door, load });
    await sleep(100);
    expect(isAnswered).toBe(false);
    gateway.begin();
    expect(await response).toHaveStatus(200);
    await gateway.stop();
  });

  test('answers 503 when the start fails', async () => {
    const door = await openDoor({ port: 0 });
    const response = fetch(urlOf(door));
    await sleep(50);
    await door.close();
    expect(await response).toHaveStatus(503);
    expect(await (await response).json()).toEqual({
      error: 'service_unavailable',
      description: 'The service could not start',
    });
  });
});

test('listens on the given address', async () => {
  const load = async () => succeed;
  // A kept connection would delay the stop.
  const last = { headers: { Connection: 'close' } };
  const all = await startGateway({ port: 0, host: '0.0.0.0', load });
  const { port } = new URL(all.url);
  expect(all.url).toBe(`http://localhost:${port}/ws/1`);
  expect(await fetch(`http://127.0.0.2:${port}/ws/1/review`, last)).toHaveStatus(200);
  await all.stop();
  const one = await startGateway({ port: 0, host: '127.0.0.3', load });
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.3:\d+\/ws\/1$/);
  expect(await fetch(`${one.url}/review`, last)).toHaveStatus(200);
  await one.stop();
});

/** Resolves when the port refuses connections. On a busy machine it stays open for seconds. */
async function refused(port: number) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.destroy();
      await sleep(20);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ECONNREFUSED' });
      return;
    }
  }
}

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
  await refused(Number(new URL(own.url).port));
  answer.resolve({ statusCode: 200, body: '{}' });
  expect(await response).toHaveStatus(200);
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
  const { port, close } = await openDoor({ port: 0 });
  const start = startGateway({ port, load: async () => succeed });
  await expect(start).rejects.toThrow(`port ${port} is in use`);
  await close();
});
