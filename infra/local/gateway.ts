import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { stage, version } from '../../shared/routes.ts';
import { compress, type Reply } from './compress.ts';
import { GatewayError, refuse, render } from './gateway-error.ts';
import { hostFile } from './host-files.ts';
import type { Mount } from './identity-provider.ts';
import { answer } from './integration.ts';
import type { Load } from './invoke.ts';
import type { Served } from './log.ts';
import { localUrl, type PublicAddress } from './public-address.ts';
import { countRoundTrips } from './round-trips.ts';

export interface Gateway {
  /** The public base URL: `http://localhost:3000/ws/1`, or below the public address. */
  url: string;
  /** The origin that a proxy on this machine connects to. */
  local: string;
  /**
   * Passes requests below the path of `mount`, which is outside the stage, to `mount` from now on.
   */
  mount(mount: Mount): void;
  /**
   * Accepts no new requests. Resolves when requests in flight are answered, or cut off after eight
   * seconds.
   */
  stop(): Promise<void>;
}

/**
 * In bytes. API Gateway's limit is 10 KB. This limit is higher, so that the 503 of our own handlers
 * can be tested.
 */
const longestUrl = 256 * 1024;
const patience = 8_000;

/**
 * Serves the routes on `host` as a REST API of API Gateway with Lambda proxy integration. `timeout`
 * is in milliseconds. `address` is the address of a proxy in front.
 */
export async function startGateway(options: {
  port: number;
  host?: string;
  load: Load;
  log?: (served: Served) => void;
  timeout?: number;
  address?: PublicAddress;
  securityContact?: string;
}): Promise<Gateway> {
  const { port, host = '127.0.0.1', load, log, timeout = 29_000 } = options;
  const { address, securityContact } = options;
  const server = createServer({ maxHeaderSize: longestUrl + 64 * 1024, requireHostHeader: false });

  const mounts: Mount[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = performance.now();
    const requestId = randomUUID();
    const { method = 'GET' } = request;
    const url = localUrl(request.url, address?.path);
    const served: Served = {
      method,
      url,
      status: undefined,
      milliseconds: 0,
      requestId,
      roundTrips: 0,
    };
    if (log) {
      response.once('close', () => {
        if (response.writableFinished) served.status = response.statusCode;
        served.milliseconds = performance.now() - start;
        log(served);
      });
    }
    const reply = (answer: Reply, own?: 'own') => {
      response.setHeader('x-amzn-RequestId', requestId);
      if (!server.listening) response.setHeader('Connection', 'close');
      send(response, answer, own);
    };
    try {
      refuseMalformed(request);
      const mounted = mounts.find(({ path }) => url.startsWith(`${path}/`));
      if (mounted) {
        served.route = mounted.path;
        request.url = url;
        mounted.serve(request, response);
        return;
      }
      const file = hostFile(method, url, { address, securityContact });
      if (file) {
        reply(toReply(file));
        return;
      }
      const exchange = { request, response, requestId, load, timeout, served, address };
      const result = await countRoundTrips(async (roundTrips) => {
        try {
          return await answer(exchange);
        } finally {
          served.roundTrips = roundTrips();
        }
      });
      reply(await compress(request, toReply(result)));
    } catch (error) {
      if (request.errored) return; // The client has closed the connection.
      if (!(error instanceof GatewayError)) console.error(`${requestId}:`, error);
      const refusal = error instanceof GatewayError ? error : new GatewayError('DEFAULT_5XX', 502);
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      reply(toReply(render(refusal, requestId)), 'own');
    }
  }

  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  server.on('request', serve);
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('clientError', refuse);
  await listen(server, port, host);
  const listening = server.address();
  const bound = listening !== null && typeof listening === 'object' ? listening.port : port;
  const local = `http://${nameOf(host)}:${bound}`;
  const top = address ? address.url.origin + address.path : local;
  return {
    url: `${top}/${stage}${version}`,
    local,
    mount(mount) {
      mounts.push(mount);
    },
    async stop() {
      // A turn accepts one connection, the next reads its request. Closing resets those that wait.
      for (let before = -1; before < accepted; ) {
        before = accepted;
        await nextTurn();
        await nextTurn();
      }
      const closed = once(server, 'close');
      server.close();
      const cutOff = setTimeout(() => server.closeAllConnections(), patience);
      await closed;
      clearTimeout(cutOff);
    },
  };
}

/**
 * Throws GatewayError unless there is one valid Host header (RFC 9112 section 3.2) and no unknown
 * expectation (RFC 9110 section 10.1.1).
 */
function refuseMalformed({ headers, headersDistinct, httpVersion }: IncomingMessage): void {
  const { host = httpVersion === '1.0' ? ['localhost'] : [] } = headersDistinct;
  const isHost = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d*)?$/i.test(host[0] ?? '');
  if (!isHost || host.length > 1) throw new GatewayError('DEFAULT_4XX', 400);
  if (!/^100-continue$/i.test(headers.expect ?? '100-continue')) {
    throw new GatewayError('DEFAULT_4XX', 417);
  }
}

/**
 * Headers that a Lambda cannot set: API Gateway passes them on under another name. API Gateway also
 * renames WWW-Authenticate. It is kept here, because clients rely on it as in RFC 6749 section 5.2.
 */
const remapped = /^(connection|content-length|date|server|transfer-encoding)$/i;

function toReply(result: APIGatewayProxyResult): Reply {
  return {
    statusCode: result.statusCode,
    headers: { ...result.headers, ...result.multiValueHeaders },
    body: Buffer.from(result.body ?? '', result.isBase64Encoded ? 'base64' : 'utf8'),
  };
}

function send(response: ServerResponse, { statusCode, headers, body }: Reply, own?: 'own'): void {
  for (const [name, value] of Object.entries(headers)) {
    const known = own || !remapped.test(name) ? name : `x-amzn-Remapped-${name}`;
    response.setHeader(known, Array.isArray(value) ? value.map(String) : `${value}`);
  }
  const hasBody = statusCode !== 204 && statusCode !== 304;
  if (hasBody) {
    if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
    // A response to HEAD without its body cannot state the length of the GET response.
    const isLeftOut = response.req.method === 'HEAD' && body.length === 0;
    if (!isLeftOut) response.setHeader('Content-Length', body.length);
  }
  if (response.req.complete) {
    response.writeHead(statusCode).end(body);
    return;
  }
  // The client is still sending. Closing at once could lose the response, so the client gets a
  // second to read it and stop.
  response.writeHead(statusCode, { Connection: 'close' }).write(body);
  const end = () => response.end();
  const timer = setTimeout(end, 1_000);
  response.req
    .resume()
    .once('end', end)
    .once('close', () => clearTimeout(timer));
}

/** Returns the host name under which this machine reaches `host`. */
function nameOf(host: string): string {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const another = `type npm start -- --port ${port < 1024 || port > 65_000 ? 3000 : port + 1}`;
    const why: Record<string, string> = {
      EADDRINUSE: `port ${port} is in use: ${another}`,
      EACCES: `port ${port} needs administrator rights: ${another}`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: check --host`,
      ENOTFOUND: `${host} is not an address of this machine: check --host`,
    };
    throw new Error(why[code ?? ''] ?? `port ${port} cannot be opened: ${message}`, { cause });
  }
}
