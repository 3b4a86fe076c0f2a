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
 * In bytes. A character is at most six bytes of JSON, so a shorter body fits Lambda without
 * counting.
 */
const surelyFits = 512 * 1024;
const metadata = '/.well-known/oauth-authorization-server';

/** A request to a function, with all that its handling needs. */
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
 * GatewayError for errors that API Gateway answers itself.
 */
export async function answer(exchange: Exchange): Promise<APIGatewayProxyResult> {
  const { request, requestId, load, timeout, served, address } = exchange;
  const { method = 'GET' } = request;
  if (method === 'OPTIONS') return { statusCode: 204, headers: preflightHeaders, body: '' };
  const [requested = '', ...query] = served.url.split('?');
  // Clients look for the metadata of an issuer with a path here (RFC 8414 section 3.1). A custom
  // domain can map this path.
  const isMetadata = requested === `${metadata}${address?.path ?? ''}/${stage}`;
  const sentPath = isMetadata ? `/${stage}${metadata}` : requested;
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
      throw new Error(`the response of ${operation} is too large for Lambda`);
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

/**
 * Reads the body of a request. Returns undefined if it has more than `most` bytes; the connection
 * stays open for the response.
 */
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
 * Decodes the body as UTF-8. Throws GatewayError if it is not UTF-8; API Gateway replaces the bytes
 * silently, which would store other text than was sent. If another charset is named, the function
 * gets the text and reports the error.
 */
function textOf(body: Buffer, contentType = ''): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    if (isUtf8(contentType)) throw new GatewayError('BAD_REQUEST_BODY');
    return body.toString();
  }
}
