import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { gatewayResponses } from '../../shared/http/gateway-responses.ts';
import { commonHeaders } from '../../shared/http/response.ts';

/** Ends a request with one of API Gateway's own answers. */
export class GatewayError extends Error {
  readonly type: string;
  readonly status: number | undefined;
  readonly authorizer: Record<string, string>;

  /** `status` is for the DEFAULT types only; `authorizer` is what the authorizer said about its refusal. */
  constructor(type: string, status?: number, authorizer: Record<string, string> = {}) {
    super(type);
    this.type = type;
    this.status = status;
    this.authorizer = authorizer;
  }
}

/** A gateway response in API Gateway's mapping syntax, filled in. */
export function render(refusal: GatewayError, requestId: string): APIGatewayProxyResult {
  const found = gatewayResponses.find(({ type }) => type === refusal.type);
  if (!found) throw refusal;
  const authorizer = Object.entries(refusal.authorizer);
  const context = new Map([
    ['context.requestId', requestId],
    ...authorizer.map(([name, value]) => [`context.authorizer.${name}`, value] as const),
  ]);
  const headers = Object.entries(found.headers).flatMap(([name, mapping]) => {
    const value = mapping.startsWith("'") ? mapping.slice(1, -1) : context.get(mapping);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    statusCode: found.status ?? refusal.status ?? 500,
    headers: Object.fromEntries(headers),
    body: found.body.replace(/\$(context(?:\.\w+)+)/g, (_, name) => context.get(name) ?? ''),
  };
}

/** Their parsers go on failing at what comes after the first mistake. */
const refused = new WeakSet<Duplex>();

/** What never became a request. */
export function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = tooLarge ? 431 : 400;
  const body = JSON.stringify({
    error: 'invalid_request',
    description: tooLarge ? 'The URL or the headers are too long' : 'This is not valid HTTP/1.1',
  });
  const headers = {
    ...commonHeaders,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
  // The rest is read over, or the client might lose the answer.
  socket.resume();
  setTimeout(() => socket.destroy(), 1_000).unref();
}
