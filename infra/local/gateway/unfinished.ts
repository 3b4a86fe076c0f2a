import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Client, networksOf } from './client-networks.ts';
import { GatewayError, refuse } from './gateway-response.ts';

/** Connections of one address that may wait for their client at a time. */
const mostWaiting = 20;

/** In milliseconds since its head: from then on, a body must have arrived at the slowest rate. */
const patience = 10_000;
/** In bytes a millisecond, for 1 KB a second. */
const slowest = 1024 / 1000;

interface Unfinished {
  /**
   * Takes a request whose head has arrived. Counts it until its body has arrived, and again until
   * the client has read the answer. Ends it if the body arrives too slowly. Throws GatewayError 429
   * if too many connections of the client wait for the client.
   */
  admit(client: Client, request: IncomingMessage, response: ServerResponse): void;
}

/** A connection whose next head is not there yet, or one with its last request. */
interface Arriving {
  release: (() => void) | undefined;
  request?: IncomingMessage;
}

/**
 * Limits the connections that wait for their client: for a head, for the rest of a body, or until
 * an answer is read. Otherwise a few clients that stop in the middle could take all connections.
 * `clientOf` returns the client of a connection before it has sent a head.
 */
export function limitUnfinished(server: Server, clientOf: (socket: Socket) => Client): Unfinished {
  const waiting = new Map<string, number>();
  const arriving = new WeakMap<Socket, Arriving>();

  function hasRoom({ client, isInside }: Client) {
    const isBelow = ({ name, share }: { name: string; share: number }) =>
      (waiting.get(name) ?? 0) < mostWaiting * share;
    return isInside || networksOf(client).every(isBelow);
  }

  /** Counts a connection of the client until the returned function is called. */
  function hold({ client, isInside }: Client) {
    const names = isInside ? [] : networksOf(client).map(({ name }) => name);
    for (const name of names) waiting.set(name, (waiting.get(name) ?? 0) + 1);
    return () => {
      for (const name of names.splice(0)) {
        const left = (waiting.get(name) ?? 1) - 1;
        if (left > 0) waiting.set(name, left);
        else waiting.delete(name);
      }
    };
  }

  server.on('connection', (socket) => {
    const client = clientOf(socket);
    // A proxy begins a request when it has all of the head.
    if (client.isInside) return;
    const next: Arriving = { release: undefined };
    const begin = () => {
      if (hasRoom(client)) next.release = hold(client);
      else socket.destroy();
    };
    begin();
    arriving.set(socket, next);
    // Before the parser, which would already have ended the body that the bytes belong to.
    socket.prependListener('data', () => {
      if (next.release === undefined && next.request?.complete !== false) begin();
    });
    socket.once('close', () => next.release?.());
  });

  return {
    admit(client, request, response) {
      const { socket } = request;
      const head = arriving.get(socket);
      if (head) {
        head.release?.();
        Object.assign(head, { release: undefined, request });
      }
      if (!hasRoom(client)) throw new GatewayError('THROTTLED', { retryAfter: 1 });
      if (!request.complete) {
        const release = hold(client);
        const stop = endIfSlow(request, response);
        const arrived = () => {
          release();
          stop();
        };
        request.once('end', arrived).once('close', arrived);
      }
      response.once('prefinish', () => response.once('close', hold(client)));
    },
  };
}

/** Answers 408 if the body arrives too slowly, until the returned function is called. */
function endIfSlow(request: IncomingMessage, response: ServerResponse) {
  const { socket } = request;
  const begin = performance.now();
  // Part of the body may have come with the head.
  const before = socket.bytesRead - request.readableLength;
  const timer = setInterval(() => {
    const milliseconds = performance.now() - begin;
    const isSlow = socket.bytesRead - before < milliseconds * slowest;
    if (milliseconds < patience || !isSlow || response.headersSent) return;
    clearInterval(timer);
    refuse(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  }, 1_000);
  timer.unref();
  return () => clearInterval(timer);
}
