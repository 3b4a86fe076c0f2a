import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Starts a server on a free port of this machine. Returns its URL, without a path. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server for one test file, as `listen` does. */
export async function serve(server: HttpServer): Promise<string> {
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** Returns a port that is free at this moment. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `${port}`;
}
