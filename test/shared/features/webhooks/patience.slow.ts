import { createServer, type Server } from 'node:net';
import { Connection } from '../../../../shared/features/webhooks/connection.ts';
import { startDnsServer } from '../../../helpers/dns-server.ts';
import { listen } from '../../../helpers/listen.ts';

beforeEach(() => {
  process.env.WEBHOOK_ALLOW = '127.0.0.0/8';
});

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a server that sends a text, and then `drip` each second. */
async function slow(text: string, drip = '') {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    socket.write(text);
    const timer = setInterval(() => drip && socket.write(drip), 1000);
    socket.on('close', () => clearInterval(timer));
  });
  servers.push(server);
  return listen(server);
}

await startDnsServer(() => undefined);

test('gives up after 15 seconds, whatever takes so long', async () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const addresses = [
    'https://silent.example/',
    await slow(''),
    (await slow('')).replace('http', 'https'),
    await slow(head, 'A: b\r\n'),
    await slow('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    await slow(`${head}Content-Length: 9999\r\n\r\n`, 'a'),
    await slow(`${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
  ];
  const results = await Promise.all(
    addresses.map((address) => new Connection(address).send({ headers: {}, body: '{}' })),
  );
  for (const result of results) {
    expect(result).toEqual({
      outcome: 'failed',
      cause: 'timeout',
      milliseconds: expect.any(Number),
    });
    expect(result.milliseconds).toBeGreaterThan(14_900);
    expect(result.milliseconds).toBeLessThan(17_000);
  }
});
