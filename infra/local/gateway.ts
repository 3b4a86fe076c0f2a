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

/** A running HTTP server. */
export interface Gateway {
  /** The base URL for everybody: `http://localhost:3000/ws/1`, or below the public address. */
  url: string;
  /** The origin that a proxy on this machine connects to. */
  local: string;
  /** From now on requests below the path of `mount`, which is outside the stage, are its own to answer. */
  mount(mount: Mount): void;
  /**
   * Takes no more requests, and resolves when those in flight are answered, or cut off after eight
   * seconds.
   */
  stop(): Promise<void>;
}

/** API Gateway stops at 10 KB; more is let through, so that what our handlers say to it can be seen. */
const longestUrl = 256 * 1024;
const patience = 8_000;

/**
 * Serves the routes on `host` as API Gateway's REST API with Lambda proxy integration does.
 * `timeout` is in milliseconds. `address` is that of a proxy in front.
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
      if (request.errored) return; // The client is gone.
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

/** One host that can be one (RFC 9112 section 3.2), and no expectation that nobody can meet (RFC 9110 section 10.1.1). */
function refuseMalformed({ headers, headersDistinct, httpVersion }: IncomingMessage): void {
  const { host = httpVersion === '1.0' ? ['localhost'] : [] } = headersDistinct;
  const isHost = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d*)?$/i.test(host[0] ?? '');
  if (!isHost || host.length > 1) throw new GatewayError('DEFAULT_4XX', 400);
  if (!/^100-continue$/i.test(headers.expect ?? '100-continue')) {
    throw new GatewayError('DEFAULT_4XX', 417);
  }
}

/**
 * These a Lambda cannot set: API Gateway passes them on under another name. It does so to WWW-Authenticate as well, which we
 * keep, because clients that see it behave as RFC 6749 section 5.2 has it.
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
    // How long the answer to GET would be, the one to HEAD does not say: its body was left out.
    const isLeftOut = response.req.method === 'HEAD' && body.length === 0;
    if (!isLeftOut) response.setHeader('Content-Length', body.length);
  }
  if (response.req.complete) {
    response.writeHead(statusCode).end(body);
    return;
  }
  // The client still sends. Closing at once could take the answer away from it: it gets a second to read and to stop.
  response.writeHead(statusCode, { Connection: 'close' }).write(body);
  const end = () => response.end();
  const timer = setTimeout(end, 1_000);
  response.req
    .resume()
    .once('end', end)
    .once('close', () => clearTimeout(timer));
}

/** What a person on this machine reaches `host` by. */
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
      EACCES: `port ${port} is for administrators: ${another}`,
      EADDRNOTAVAIL: `${host} is no address of this machine: check --host`,
      ENOTFOUND: `${host} is no address of this machine: check --host`,
    };
    throw new Error(why[code ?? ''] ?? `port ${port} cannot be opened: ${message}`, { cause });
  }
}
