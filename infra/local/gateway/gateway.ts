import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { routes, stage, version } from '../../../shared/base/routes.ts';
import { withinBudget } from '../../../shared/base/table/budget.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import { preflightHeaders } from '../../../shared/core/http/response.ts';
import { budgetOf } from '../../route-load.ts';
import { invoke, type Load } from '../invoke.ts';
import { type Door, openDoor } from './door.ts';
import {
  GatewayError,
  pageOf,
  type Reply,
  refuse,
  render,
  send,
  toReply,
} from './gateway-response.ts';
import { hostFile } from './host.ts';
import { answer, type Target, targetOf } from './integration.ts';
import { type KeptAnswers, keyOf, unlessKnown } from './kept-answers.ts';
import type { Served } from './log.ts';
import { arrivalOf, localUrl, type PublicAddress } from './public-address.ts';
import { limitClients } from './rate-limit.ts';
import { limitUnfinished } from './unfinished.ts';

/** Serves HTTP requests whose path, below the path of the public address, begins with `path`. */
interface Mount {
  path: string;
  /** Returns true for what costs a client as much as a consent. */
  isDear?(url: string): boolean;
  serve(request: IncomingMessage, response: ServerResponse, client: string): void;
}

export interface Gateway {
  /** The public base URL: `http://localhost:3000/ws/1`, or below the public address. */
  url: string;
  /** The origin that a proxy on this machine connects to. */
  local: string;
  /** Passes requests below the path of `mount`, which is outside the stage, to `mount`. */
  mount(mount: Mount): void;
  /** Begins to answer. Requests wait for it, so that none meets a half of the service. */
  begin(): void;
  /** Accepts no new requests. Resolves when those in flight are over, at most after 8 seconds. */
  stop(): Promise<void>;
}

/** The way to answer a request. Only public answers are kept, see `keyOf`. */
type Way =
  | { kind: 'mount'; mount: Mount }
  | { kind: 'file'; file: APIGatewayProxyResult }
  | { kind: 'preflight' }
  | { kind: 'kept'; target: Target; kept: KeptAnswers; key: string }
  | { kind: 'function'; target: Target };

/** Budgets of requests, by operation. */
const budgets = new Map(routes.map((route) => [route.operation, budgetOf(route)]));

/**
 * Serves the routes on `host` as a REST API of API Gateway with Lambda proxy integration. The
 * `timeout` is that of a function, the `requestTimeout` that of a request until all of its body has
 * arrived. Both are in milliseconds. The `address` is that of a proxy in front. Each client address
 * may send `clientRateLimit` requests a second. With 0, the default, there is no limit. A `door` is
 * a port that is open already: nothing is answered there before `begin`. Public answers are `kept`.
 */
export async function startGateway(options: {
  port: number;
  host?: string;
  door?: Door;
  load: Load;
  log?: (served: Served) => void;
  timeout?: number;
  requestTimeout?: number;
  address?: PublicAddress;
  clientRateLimit?: number;
  securityContact?: string;
  kept?: KeptAnswers | undefined;
}): Promise<Gateway> {
  const { load, log, timeout = 29_000, address, clientRateLimit = 0, kept } = options;
  const door = options.door ?? (await openDoor(options));
  const limit = limitClients(clientRateLimit);
  const unfinished = limitUnfinished(door.server, (socket) =>
    arrivalOf({ headers: {}, socket }, address),
  );
  const mounts: Mount[] = [];
  const call = async (operation: string, event: unknown) => {
    const handler = await load(operation);
    return withinBudget({ name: operation }, budgets.get(operation), () =>
      invoke(handler, operation, event, timeout),
    );
  };

  const mountOf = (url: string) => mounts.find(({ path }) => url.startsWith(`${path}/`));

  /** Finds what answers a request. Throws GatewayError if nothing does. */
  function wayOf(
    request: IncomingMessage,
    { url, protocol, target }: { url: string; protocol: string; target: Target | undefined },
  ): Way {
    const { method = 'GET' } = request;
    const mount = mountOf(url);
    if (mount) return { kind: 'mount', mount };
    const file = hostFile(method, url, options);
    if (file) return { kind: 'file', file };
    if (method === 'OPTIONS') return { kind: 'preflight' };
    if (!target) throw new GatewayError('MISSING_AUTHENTICATION_TOKEN');
    const isPublic = target.match?.route.access === 'public';
    const key = isPublic ? keyOf(request, protocol, url) : undefined;
    if (!kept || key === undefined) return { kind: 'function', target };
    return { kind: 'kept', target, kept, key };
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const start = performance.now();
    const requestId = randomUUID();
    const { method = 'GET' } = request;
    const url = localUrl(request.url, address?.path);
    const served: Served = { method, url, requestId, milliseconds: 0 };
    if (isFaulty(request)) response.shouldKeepAlive = false;
    if (log) {
      response.once('close', () => {
        served.status = response.writableFinished ? response.statusCode : undefined;
        served.milliseconds = performance.now() - start;
        log(served);
      });
    }
    const deliver = async (reply: Reply, own?: 'own') => {
      response.setHeader('x-amzn-RequestId', requestId);
      await door.beforeAnswer(response);
      send(response, reply, own);
    };
    const reply = async (result: APIGatewayProxyResult, own?: 'own') =>
      deliver(await toReply(request, result), own);
    const run = async (target: Target, isShared: boolean) => {
      const result = await answer(request, response, { call, served, target, address, isShared });
      return toReply(request, result);
    };
    try {
      const arrival = arrivalOf(request, address);
      unfinished.admit(arrival, request, response);
      refuseMalformed(request);
      const target = targetOf(method, url, address);
      if (target?.match) served.route = `/${stage}${resourceOf(target.match.route)}`;
      const mount = mountOf(url);
      await limit(arrival, target?.match?.route, mount?.isDear?.(url));
      const way = wayOf(request, { url, protocol: arrival.protocol, target });
      switch (way.kind) {
        case 'mount':
          served.route = way.mount.path;
          request.url = url;
          await door.beforeAnswer(response);
          way.mount.serve(request, response, arrival.client);
          break;
        case 'file':
          await reply(way.file);
          break;
        case 'preflight':
          refuseOtherContent(request.headers);
          await reply({ statusCode: 204, headers: preflightHeaders, body: '' });
          break;
        case 'kept': {
          const found = await way.kept.find(way.key, () => run(way.target, true));
          await deliver(unlessKnown(found, request.headers['if-none-match']));
          break;
        }
        case 'function':
          await deliver(await run(way.target, false));
      }
    } catch (error) {
      if (request.errored) return; // The client has closed the connection.
      if (!(error instanceof GatewayError)) console.error(`${requestId}:`, error);
      const refusal =
        error instanceof GatewayError ? error : new GatewayError('DEFAULT_5XX', { status: 502 });
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      // What follows a malformed head may be no request of this client.
      if (refusal.status === 400) response.setHeader('Connection', 'close');
      const isPage = isForPeople(request, url) && refusal.retryAfter !== undefined;
      await reply(isPage ? pageOf(refusal) : render(refusal, requestId), 'own');
    }
  }

  door.server.on('clientError', refuse);
  const begin = () => door.serve(serve);
  if (!options.door) begin();
  const local = `http://${nameOf(door.host)}:${door.port}`;
  const top = address ? address.url.origin + address.path : local;
  return {
    url: `${top}/${stage}${version}`,
    local,
    mount(mount) {
      mounts.push(mount);
    },
    begin,
    stop: door.close,
  };
}

/**
 * Throws GatewayError unless there is one valid Host header (RFC 9112 section 3.2) and no unknown
 * expectation (RFC 9110 section 10.1.1).
 */
function refuseMalformed({ headers, headersDistinct, httpVersion }: IncomingMessage) {
  const { host = httpVersion === '1.0' ? ['localhost'] : [] } = headersDistinct;
  const isHost = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d*)?$/i.test(host[0] ?? '');
  if (!isHost || host.length > 1) throw new GatewayError('DEFAULT_4XX', { status: 400 });
  if (!/^100-continue$/i.test(headers.expect ?? '100-continue')) {
    throw new GatewayError('DEFAULT_4XX', { status: 417 });
  }
}

/** Returns true if a browser shows the answer to a person. The API answers JSON only. */
function isForPeople({ headers }: IncomingMessage, url: string): boolean {
  const isOfApi = url.startsWith(`/${stage}${version}/`);
  return !isOfApi && headers.accept?.includes('text/html') === true;
}

/** Throws GatewayError 415, as API Gateway does, for a preflight with other content than JSON. */
function refuseOtherContent({ 'content-type': type = 'application/json' }: IncomingHttpHeaders) {
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', { status: 415 });
}

/** Returns true if the end of the body is uncertain: chunks in HTTP/1.0 (RFC 9112 section 6.1). */
function isFaulty({ headers, httpVersion }: IncomingMessage) {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}

/** Returns the host name under which this machine reaches `host`. */
function nameOf(host: string) {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
