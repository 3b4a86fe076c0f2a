import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { gatewayResponses } from '../../shared/http/gateway-responses.ts';
import { commonHeaders } from '../../shared/http/response.ts';

/** An error that API Gateway answers itself. */
export class GatewayError extends Error {
  readonly type: string;
  readonly status: number | undefined;
  readonly authorizer: Record<string, string>;

  /**
   * `status` applies to the DEFAULT types only. `authorizer` is the context that the authorizer
   * returned with its refusal.
   */
  constructor(type: string, status?: number, authorizer: Record<string, string> = {}) {
    super(type);
    this.type = type;
    this.status = status;
    this.authorizer = authorizer;
  }
}

/** Renders a gateway response from API Gateway's mapping syntax. */
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

/** Sockets already answered. Their parsers report further errors after the first. */
const refused = new WeakSet<Duplex>();

/** Answers a client whose bytes are not a valid request. */
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
  // The rest is read and dropped. Otherwise the client might lose the answer.
  socket.resume();
  setTimeout(() => socket.destroy(), 1_000).unref();
}
