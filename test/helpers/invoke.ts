import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { gatewayEvent } from '../../infra/local/gateway-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { checkResponse, routeOf } from './contract.ts';

/** What a test says of a request; the rest of the event is what API Gateway would make of it. */
export interface TestRequest {
  method?: string;
  path?: Record<string, string>;
  /** A list of values is a parameter that is sent more than once. */
  query?: Record<string, string | readonly string[]>;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string | readonly string[]>;
  caller?: { user_id: string; client_id: string; scope: string };
}

/** A response, with its body parsed where it is JSON. */
export interface TestResponse {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it before it has proved what is there.
  body: any;
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown;

/** Calls a handler as API Gateway's REST API does with Lambda proxy integration. The response must be as its endpoint describes it. */
export async function invoke(handler: unknown, request: TestRequest = {}): Promise<TestResponse> {
  const event = proxyEvent(request);
  const result = (await (handler as Handler)(event, lambdaContext())) as APIGatewayProxyResult;
  const headers = Object.fromEntries(
    Object.entries(result.headers ?? {}).map(([name, value]) => [name.toLowerCase(), `${value}`]),
  );
  const isJson = headers['content-type'] === 'application/json';
  const body = isJson && result.body !== '' ? JSON.parse(result.body) : result.body;
  const route = await routeOf(handler);
  const { method = 'GET' } = request;
  if (route) await checkResponse({ route, method, status: result.statusCode, body });
  return { status: result.statusCode, headers, body };
}

/** The event of Lambda proxy integration. */
export function proxyEvent({
  method = 'GET',
  path,
  query,
  body,
  headers = body === undefined ? {} : { 'content-type': 'application/json' },
  caller,
}: TestRequest): APIGatewayProxyEvent {
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

/** What Lambda tells a handler about its run. */
export const lambdaContext = () => contextOf('test', 29_000);

function pairsOf(sent: Record<string, string | readonly string[]> = {}): [string, string][] {
  return Object.entries(sent).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}
