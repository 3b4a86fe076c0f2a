import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { matchRoute, resourceOf } from '../../shared/http/match-route.ts';
import { isUtf8 } from '../../shared/http/media-type.ts';
import { preflightHeaders } from '../../shared/http/response.ts';
import { bytesOf, largestAnswer, largestEvent } from '../../shared/lambda-limits.ts';
import { stage } from '../../shared/routes.ts';
import { authorize } from './authorize.ts';
import { GatewayError } from './gateway-error.ts';
import { invoke, type Load, Timeout } from './invoke.ts';
import type { Served } from './log.ts';
import { proxyEvent } from './proxy-event.ts';
import type { PublicAddress } from './public-address.ts';

const largestBody = 10 * 1024 * 1024;
/**
 * A character is six bytes of JSON at most, so that nobody need count what is shorter than this to
 * know that Lambda takes it.
 */
const surelyFits = 512 * 1024;
const metadata = '/.well-known/oauth-authorization-server';

/** A request that goes to a function, and all that it needs on the way. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  load: Load;
  timeout: number;
  served: Served;
  address: PublicAddress | undefined;
}

/**
 * Answers a request by the function of its route, as Lambda proxy integration does. Throws
 * GatewayError for what API Gateway answers itself.
 */
export async function answer(exchange: Exchange): Promise<APIGatewayProxyResult> {
  const { request, requestId, load, timeout, served, address } = exchange;
  const { method = 'GET' } = request;
  if (method === 'OPTIONS') return { statusCode: 204, headers: preflightHeaders, body: '' };
  const [asked = '', ...query] = served.url.split('?');
  // Clients look for the metadata of an issuer with a path here (RFC 8414 section 3.1); a custom
  // domain can map it so.
  const isMetadata = asked === `${metadata}${address?.path ?? ''}/${stage}`;
  const sentPath = isMetadata ? `/${stage}${metadata}` : asked;
  if (sentPath !== `/${stage}` && !sentPath.startsWith(`/${stage}/`)) {
    throw new GatewayError('MISSING_AUTHENTICATION_TOKEN');
  }
  const path = sentPath.slice(stage.length + 1) || '/';
  const match = matchRoute(method, path);
  if (match) served.route = `/${stage}${resourceOf(match.route)}`;
  const event = readable(() =>
    proxyEvent(request, { requestId, path, query: query.join('?'), match, address }),
  );
  if (request.headers.expect !== undefined && !isLonger(request, largestBody)) {
    exchange.response.writeContinue();
  }
  const body = await readBody(request, largestBody);
  if (body === undefined) throw new GatewayError('REQUEST_TOO_LARGE');
  if (match && match.route.access !== 'public') {
    const caller = await authorize(event, load, timeout);
    event.requestContext.authorizer = caller;
    Object.assign(served, { user: caller.user_id, application: caller.client_id });
  }
  event.body = body.length === 0 ? null : textOf(body, request.headers['content-type']);
  if (body.length > surelyFits && bytesOf(event) > largestEvent) {
    throw new GatewayError('REQUEST_TOO_LARGE');
  }
  if (path.includes('/oauth/')) {
    served.application = /\bclient_id=(\w+)/.exec(`${query.join('?')}&${event.body ?? ''}`)?.[1];
  }
  const operation = match?.route.operation ?? 'no-route';
  try {
    const result = await invoke(await load(operation), operation, event, timeout);
    const answered = result as APIGatewayProxyResult;
    if ((answered.body?.length ?? 0) > surelyFits && bytesOf(result) > largestAnswer) {
      throw new Error('the answer is too large for Lambda');
    }
    return answered;
  } catch (error) {
    if (!(error instanceof Timeout)) throw error;
    console.error(error.message);
    throw new GatewayError('INTEGRATION_TIMEOUT');
  }
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof URIError ? new GatewayError('BAD_REQUEST_PARAMETERS') : error;
  }
}

function isLonger({ headers }: IncomingMessage, most: number): boolean {
  return Number(headers['content-length']) > most;
}

/** The body of a request; undefined where it has more than so many bytes. Its connection stays for the answer. */
export async function readBody(
  request: IncomingMessage,
  most: number,
): Promise<Buffer | undefined> {
  if (isLonger(request, most)) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * API Gateway replaces what is not UTF-8 and says nothing. We do, because what is stored should be
 * what was sent; but where another charset is named, the function knows better what to say.
 */
function textOf(body: Buffer, contentType = ''): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    if (isUtf8(contentType)) throw new GatewayError('BAD_REQUEST_BODY');
    return body.toString();
  }
}
