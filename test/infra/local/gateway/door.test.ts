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

const load = async () => async () => {
  await sleep(3);
  return { statusCode: 200, body: '{}' };
};

/** Sends a request. Returns the headers of its answer. */
async function headersOf(url: string, agent: Agent) {
  const [response] = await once(get(`${url}/review`, { agent }), 'response');
  await once(response.resume(), 'end');
  return response.headers;
}

/** A client that sends one request after the other. Returns how its last one ended. */
async function requestUntilRefused(url: string, agent: Agent) {
  for (;;) {
    try {
      await headersOf(url, agent);
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
      const gateway = await startGateway({ port: 0, load });
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
    const gateway = await startGateway({ port: 0, load });
    const agent = new Agent({ keepAlive: true });
    expect(await headersOf(gateway.url, agent)).toMatchObject({ connection: 'keep-alive' });
    const stopped = gateway.stop();
    await sleep(150);
    expect(await headersOf(gateway.url, agent)).toMatchObject({ connection: 'close' });
    await stopped;
    agent.destroy();
  });

  test('and does not wait for connections that send nothing', async () => {
    const gateway = await startGateway({ port: 0, load });
    const silent = connect(Number(new URL(gateway.url).port));
    await once(silent, 'connect');
    await gateway.stop();
    expect(cut).not.toHaveBeenCalled();
    silent.destroy();
  });
});

test('a connection waits longer for its next request than proxies keep theirs', async () => {
  const gateway = await startGateway({ port: 0, load });
  const agent = new Agent({ keepAlive: true });
  // Caddy keeps its connections for 120 s.
  const { 'keep-alive': kept } = await headersOf(gateway.url, agent);
  const [, seconds] = /^timeout=(\d+)$/.exec(`${kept}`) ?? [];
  expect(Number(seconds)).toBeGreaterThan(120);
  await gateway.stop();
  agent.destroy();
});

describe('a port that is open before the service is ready', () => {
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

test('answers requests that arrived before it was stopped', async () => {
  const own = await startGateway({ port: 0, load });
  const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(own.url).port)));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('GET /ws/1/review HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answers] = await Promise.all([Promise.all(sockets.map(text)), own.stop()]);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 200 OK/);
});

test('names the port that is taken', async () => {
  const { port, close } = await openDoor({ port: 0 });
  const start = startGateway({ port, load });
  await expect(start).rejects.toThrow(`port ${port} is in use`);
  await close();
});
