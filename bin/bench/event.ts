import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { gatewayEvent } from '../../infra/local/gateway-event.ts';

/** A request to an endpoint, where only what matters to the endpoint is said. */
export interface EndpointRequest {
  method?: string;
  path?: Record<string, string>;
  /** A list of values is a parameter that is sent more than once. */
  query?: Record<string, string | readonly string[]>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string | readonly string[]>;
  caller?: { user_id: string; client_id: string; scope: string };
}

/** The event that API Gateway makes of a request to `https://api.example`. */
export function eventOf({
  method = 'GET',
  path,
  query,
  body,
  headers = body === undefined ? {} : { 'content-type': 'application/json' },
  caller,
}: EndpointRequest): APIGatewayProxyEvent {
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

function pairsOf(sent: Record<string, string | readonly string[]> = {}): [string, string][] {
  return Object.entries(sent).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}
