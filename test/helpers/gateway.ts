/** A local gateway whose functions are those of the test, and raw requests to it. */
import { connect } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { startGateway } from '../../infra/local/gateway/gateway.ts';
import type { Handler } from '../../infra/local/invoke.ts';
import { silenceAll } from './console.ts';
import { uncheckedFetch } from './contract.ts';

// The API does not describe the responses of these functions.
globalThis.fetch = uncheckedFetch;

export const review = 'a8f3c1de-0000-4000-8000-000000000001';
export const succeed: Handler = () => ({ statusCode: 200, body: '{}' });

/** The functions of a test, by operation. Any other succeeds. */
export const handlers: Record<string, Handler> = {};
/** The events that a test has sent to functions, and to the authorizer. */
export const events: APIGatewayProxyEvent[] = [];
export const authorizerEvents: unknown[] = [];

export const gateway = await startGateway({
  port: 0,
  timeout: 300,
  load: async (operation) => (event, context) => {
    if (operation === 'authorizer') authorizerEvents.push(event);
    else events.push(event as APIGatewayProxyEvent);
    return (handlers[operation] ?? succeed)(event, context);
  },
});
export const { origin } = new URL(gateway.url);
export const port = Number(new URL(origin).port);
/** The errors that the gateway prints. */
export const logged = silenceAll('error');

beforeEach(() => {
  for (const operation of Object.keys(handlers)) delete handlers[operation];
  events.length = 0;
  authorizerEvents.length = 0;
});
afterAll(() => gateway.stop());

/** Returns the response to bytes that no HTTP client would send. */
export async function raw(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

/** Returns the response to a request with these header lines, the last on its connection. */
export function last(request: string, ...headers: string[]): Promise<string> {
  return raw([`${request} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
}

/** Answer of an authorizer. */
export function policy(Effect: string, Resource: string, context?: Record<string, unknown>) {
  const policyDocument = { Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] };
  return { principalId: 'user-1', policyDocument, context };
}

export const allow: Handler = () => policy('Allow', '*');
export const token = { Authorization: 'Bearer t' };

export function vote(token?: string, path = `/review/${review}/vote`): Promise<Response> {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: token };
  return fetch(gateway.url + path, { method: 'PUT', headers, body: '{"vote":true}' });
}

export function post(path: string, body: Uint8Array | string, headers = {}): Promise<Response> {
  return fetch(gateway.url + path, { method: 'POST', headers, body: Buffer.from(body) });
}

/** Asks for a review, which this handler answers. */
export function answerOf(handler: Handler): Promise<Response> {
  handlers['get-review'] = handler;
  return fetch(`${gateway.url}/review/${review}`);
}
