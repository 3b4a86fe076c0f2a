import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

// This file imports no other file, so that the port opens before the service is loaded.

/** The port of the service. It is open from the first moment, and closes without cutting. */
export interface Door {
  server: Server;
  host: string;
  port: number;
  /** Passes all requests to `listener`, also those that wait since the port is open. */
  serve(listener: RequestListener): void;
  /** Finishes `response` later if the door is just closing, and makes it the last one. */
  beforeAnswer(response: ServerResponse): Promise<void>;
  /**
   * Accepts no new connections. Answers what has arrived, and resolves when all is over, after 8
   * seconds at most. `serve` need not have been called.
   */
  close(): Promise<void>;
}

/** In bytes. API Gateway's limit is 10 KB, but the 503 of our own handlers must be testable. */
export const longestUrl = 256 * 1024;

/** Connections beyond these are closed at once. Each keeps at most a head and 240 KB of a body. */
const mostConnections = 1_000;

/**
 * In bytes: a head. Only this many connections at a time may send a long one. So all heads that
 * are not complete take at most 60 MB.
 */
const longestHead = { first: longestUrl + 64 * 1024, connections: 100, others: 32 * 1024 };

/** In milliseconds: a connection ends if nothing is sent or read for so long. */
const longestSilence = 60_000;

/**
 * In milliseconds: a kept connection ends if no request follows for so long. Proxies keep theirs
 * for a shorter time (Caddy 120 s, nginx 60 s), so they never send a request into one that ends.
 */
const longestPause = 125_000;

/** With so many connections, those that wait for a request end, so that others find room. */
const manyConnections = 0.9 * mostConnections;

/** In milliseconds: for all of a stop. */
const patience = 8_000;
/**
 * In milliseconds: how long the door still accepts connections, at least and at most. On a busy
 * machine, clients that were just answered need longer to connect again.
 */
const acceptance = { least: 250, onBusyMachine: 2_000, most: 4_000 };
/** In milliseconds, between two looks at new connections. Three times as long is busy. */
const pause = 20;
/** In milliseconds: for the next request of a kept connection, which may be on its way. */
const grace = { usual: 500, onBusyMachine: 2_000 };

/**
 * Listens on a port; 0 is any. All of a request must arrive within `requestTimeout` milliseconds.
 * Throws a sentence for the user.
 */
export async function openDoor({
  port,
  host = '127.0.0.1',
  requestTimeout = 30_000,
}: {
  port: number;
  host?: string;
  requestTimeout?: number;
}): Promise<Door> {
  const server = createServer({
    maxHeaderSize: longestHead.first,
    requireHostHeader: false,
    headersTimeout: requestTimeout,
    requestTimeout,
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    keepAliveTimeout: longestPause,
  });
  server.maxConnections = mostConnections;
  server.timeout = longestSilence;
  const ready = Promise.withResolvers<RequestListener>();
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, async (request: IncomingMessage, response: ServerResponse) => {
      const listener = await ready.promise;
      listener(request as Parameters<RequestListener>[0], response as never);
    });
  }
  const sockets = new Set<Socket>();
  let accepted = 0;
  // Before the listener of Node.js, which reads the size for each connection.
  server.prependListener('connection', (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (sockets.size > manyConnections) server.closeIdleConnections();
    const isFirst = sockets.size <= longestHead.connections;
    Object.assign(server, { maxHeaderSize: isFirst ? longestHead.first : longestHead.others });
  });
  await listen(server, port, host);

  /** Set when the door begins to close, and settled when it no longer accepts connections. */
  let closing: Promise<void> | undefined;
  let isBusy = false;

  /** Accepts what waits, while answers are held back. Clients would connect again after them. */
  async function acceptTheRest() {
    const begin = performance.now();
    let least = acceptance.least;
    let passed = 0;
    let isStill = false;
    while (passed < least || (!isStill && passed < acceptance.most)) {
      const before = accepted;
      await sleep(pause);
      // A turn accepts one connection, the next reads its request. Closing resets those that wait.
      await nextTurn();
      await nextTurn();
      isStill = accepted === before;
      const now = performance.now() - begin;
      isBusy ||= now - passed > 3 * pause;
      if (isBusy) least = acceptance.onBusyMachine;
      passed = now;
    }
    // The close of an HTTP server also closes kept connections, whose next request may be coming.
    NetServer.prototype.close.call(server);
  }

  /** Ends connections that wait for a request, or never sent one. */
  function closeUnused() {
    server.closeIdleConnections();
    for (const socket of sockets) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  async function close() {
    const isOver = once(server, 'close');
    const cutOff = setTimeout(() => server.closeAllConnections(), patience);
    closing = acceptTheRest();
    ready.resolve(refuseWhileStarting);
    await closing;
    const left = isBusy ? grace.onBusyMachine : grace.usual;
    await Promise.race([isOver, sleep(left, undefined, { ref: false })]);
    // Repeated for connections that become idle after an answer begun before.
    const sweep = setInterval(closeUnused, 50);
    await isOver;
    clearInterval(sweep);
    clearTimeout(cutOff);
    // Ends the timer of the HTTP server.
    server.close();
  }
  let closed: Promise<void> | undefined;

  return {
    server,
    host,
    port: (server.address() as AddressInfo).port,
    serve: ready.resolve,
    async beforeAnswer(response) {
      await closing;
      if (closing) response.setHeader('Connection', 'close');
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** Answers requests that waited for a start that has failed. Nothing else can answer them. */
function refuseWhileStarting(_: IncomingMessage, response: ServerResponse) {
  response.writeHead(503, { 'Content-Type': 'application/json', Connection: 'close' });
  const description = 'The service could not start';
  response.end(JSON.stringify({ error: 'service_unavailable', description }));
}

async function listen(server: Server, port: number, host: string) {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const another = `type npm start -- --port ${port < 1024 || port > 65_000 ? 3000 : port + 1}`;
    const elsewhere = `${host} is not an address of this machine: check --host`;
    const why: Record<string, string> = {
      EADDRINUSE: `port ${port} is in use: ${another}`,
      EACCES: `port ${port} needs administrator rights: ${another}`,
      EADDRNOTAVAIL: elsewhere,
      ENOTFOUND: elsewhere,
    };
    throw new Error(why[code ?? ''] ?? `port ${port} cannot be opened: ${message}`, { cause });
  }
}
