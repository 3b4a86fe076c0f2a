import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { gatewayEvent } from './gateway-event.ts';

// Calls of a handler without HTTP, as the benchmark and the tests make them.

/** A request to an endpoint. Only the fields that matter to the endpoint are set. */
export interface EndpointRequest {
  method?: string;
  path?: Record<string, string>;
  /** A list of values repeats the parameter. */
  query?: Record<string, string | readonly string[]>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string | readonly string[]>;
  caller?: { user_id: string; client_id: string; scope: string };
}

/** Returns the event of API Gateway for a request to `https://api.example`. */
export function eventOf(request: EndpointRequest): APIGatewayProxyEvent {
  const { method = 'GET', path, query, body, caller } = request;
  const { headers = body === undefined ? {} : { 'content-type': 'application/json' } } = request;
  return gatewayEvent({
    method,
    resource: '/1/test',
    path: '/1/test',
    headers: pairsOf({ Host: 'api.example', 'X-Forwarded-Proto': 'https', ...headers }),
    query: pairsOf(query),
    pathParameters: path,
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    authorizer: caller && { principalId: caller.user_id, ...caller },
    requestId: randomUUID(),
    domainName: 'api.example',
    sourceIp: '192.0.2.1',
  });
}

function pairsOf(parameters: EndpointRequest['query'] = {}) {
  return Object.entries(parameters).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}
