import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { bytesOf } from '../../../shared/base/bytes-of.ts';
import { largestAnswer } from '../../../shared/base/largest-answer.ts';
import { stage } from '../../../shared/base/routes.ts';
import { largestFileForm, largestLongForm } from '../../../shared/core/http/form.ts';
import { largestJson } from '../../../shared/core/http/json-body.ts';
import { type Match, matchRoute } from '../../../shared/core/http/match-route.ts';
import { isUtf8 } from '../../../shared/core/http/media-type.ts';
import { tokenExpression } from '../../gateway-responses.ts';
import { Timeout } from '../invoke.ts';
import { proxyEvent } from './gateway-event.ts';
import { GatewayError } from './gateway-response.ts';
import { hasBody } from './kept-answers.ts';
import type { Served } from './log.ts';
import type { PublicAddress } from './public-address.ts';

/** In bytes. A character is at most six bytes of JSON, so shorter answers fit Lambda uncounted. */
const surelyFits = 512 * 1024;
/** In bytes. No handler reads a longer body, but those that take a file. */
const largestBody = Math.max(largestJson, largestLongForm);
const metadata = '/.well-known/oauth-authorization-server';

/** Runs the function of an operation. */
type Call = (operation: string, event: unknown) => Promise<unknown>;

/** A path below the stage as sent, its query without the question mark, and its route, if any. */
export interface Target {
  path: string;
  query: string;
  match: Match | undefined;
}

/** Finds the target of a URL below the public `address`. Returns undefined outside the stage. */
export function targetOf(
  method: string,
  url: string,
  address: PublicAddress | undefined,
): Target | undefined {
  const [requested = '', ...rest] = url.split('?');
  const query = rest.join('?');
  // Clients look for the metadata of an issuer with a path here (RFC 8414 section 3.1). A custom
  // domain can map this path.
  const isMetadata = requested === `${metadata}${address?.path ?? ''}/${stage}`;
  const sentPath = isMetadata ? `/${stage}${metadata}` : requested;
  if (sentPath !== `/${stage}` && !sentPath.startsWith(`/${stage}/`)) return undefined;
  const path = sentPath.slice(stage.length + 1) || '/';
  return { path, query, match: matchRoute(method, path) };
}

/**
 * Answers a request by the function of its route, as Lambda proxy integration does. Authorizes it
 * before its body is read. Throws GatewayError for errors that API Gateway answers itself.
 */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  {
    call,
    served,
    target,
    address,
    isShared,
  }: {
    call: Call;
    served: Served;
    target: Target;
    address: PublicAddress | undefined;
    /** The answer may go to other clients, see `keyOf`. */
    isShared: boolean;
  },
): Promise<APIGatewayProxyResult> {
  const { path, query, match } = target;
  const event = readable(() =>
    proxyEvent(request, served.requestId, { ...target, address, isShared }),
  );
  if (match && match.route.access !== 'public') {
    const caller = await authorize(event, call);
    event.requestContext.authorizer = caller;
    Object.assign(served, { user: caller.user_id, application: caller.client_id });
  }
  const most = match?.route.takesFile ? largestFileForm : largestBody;
  if (isWaiting(request) && !isLonger(request, most)) response.writeContinue();
  const body = await readBody(request, most);
  if (body === undefined) throw new GatewayError('REQUEST_TOO_LARGE');
  event.body = body.length === 0 ? null : textOf(body, request.headers);
  if (path.includes('/oauth/')) {
    served.application = /\bclient_id=(\w+)/.exec(`${query}&${event.body ?? ''}`)?.[1];
  }
  const operation = match?.route.operation ?? 'no-route';
  try {
    const result = (await call(operation, event)) as APIGatewayProxyResult;
    if ((result.body?.length ?? 0) > surelyFits && bytesOf(result) > largestAnswer) {
      throw new Error(`the response of ${operation} is too large for Lambda`);
    }
    return result;
  } catch (error) {
    if (!(error instanceof Timeout)) throw error;
    console.error(error.message);
    throw new GatewayError('INTEGRATION_TIMEOUT');
  }
}

function readable<T>(read: () => T) {
  try {
    return read();
  } catch (error) {
    throw error instanceof URIError ? new GatewayError('BAD_REQUEST_PARAMETERS') : error;
  }
}

/** Returns true for 100-continue. HTTP/1.0 does not know it (RFC 9110 section 10.1.1). */
function isWaiting({ headers, httpVersion }: IncomingMessage) {
  return headers.expect !== undefined && httpVersion !== '1.0';
}

function isLonger({ headers }: IncomingMessage, most: number) {
  return Number(headers['content-length']) > most;
}

/** Reads a body of at most `most` bytes; otherwise undefined, and the connection stays open. */
export async function readBody(
  request: IncomingMessage,
  most: number,
): Promise<Buffer | undefined> {
  if (!hasBody(request)) return Buffer.alloc(0);
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
 * silently, which would store other text than was sent. If another charset or a compression is
 * named, the function gets the text and reports the error.
 */
function textOf(body: Buffer, headers: IncomingMessage['headers']) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    const { 'content-encoding': coding, 'content-type': type = '' } = headers;
    // A page says it of a file, whose bytes API Gateway replaces too.
    const isOfFunction = coding !== undefined || /^multipart\//i.test(type);
    if (!isOfFunction && isUtf8(type)) throw new GatewayError('BAD_REQUEST_BODY');
    return body.toString();
  }
}

/** The policy of our authorizer. A resource is the route itself, or a prefix of its path. */
interface AuthorizerPolicy {
  principalId: string;
  policyDocument: { Statement: readonly { Effect: string; Resource: string }[] };
  context?: Record<string, string | number | boolean>;
}

/**
 * Calls the authorizer as API Gateway calls a TOKEN authorizer without a cache. Returns the value
 * of `requestContext.authorizer`. Throws GatewayError if the token is refused.
 */
async function authorize(event: APIGatewayProxyEvent, call: Call) {
  const name = Object.keys(event.headers).find((name) => name.toLowerCase() === 'authorization');
  const authorizationToken = event.headers[name ?? ''] ?? '';
  if (!new RegExp(tokenExpression).test(authorizationToken)) throw new GatewayError('UNAUTHORIZED');

  const methodArn = `arn:aws:execute-api:local:000000000000:local/${stage}/${event.httpMethod}${event.path}`;
  let policy: AuthorizerPolicy;
  try {
    const request = { type: 'TOKEN', authorizationToken, methodArn };
    policy = (await call('authorizer', request)) as AuthorizerPolicy;
  } catch (error) {
    if (error instanceof Error && error.message === 'Unauthorized') {
      throw new GatewayError('UNAUTHORIZED');
    }
    console.error(`${event.requestContext.requestId}: authorizer:`, error);
    throw new GatewayError('AUTHORIZER_FAILURE');
  }
  const { principalId, policyDocument, context = {} } = policy;
  const authorizer: Record<string, string> = {};
  for (const [name, value] of Object.entries(context)) {
    authorizer[name] = `${value}`;
  }
  authorizer.principalId = principalId;
  const isAllowed = policyDocument.Statement.every(({ Effect, Resource }) => {
    const covers = Resource.endsWith('*')
      ? methodArn.startsWith(Resource.slice(0, -1))
      : methodArn === Resource;
    return Effect === 'Allow' && covers;
  });
  if (!isAllowed) throw new GatewayError('ACCESS_DENIED', { authorizer });
  return authorizer;
}
