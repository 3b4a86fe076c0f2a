import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type EndpointRequest, eventOf } from '../../bin/bench/event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { checkResponse, routeOf } from './contract.ts';

/** A response, with its body parsed where it is JSON. */
export interface TestResponse {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it before it has proved what is there.
  body: any;
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown;

/**
 * Calls a handler as API Gateway's REST API does with Lambda proxy integration. The response must
 * be as its endpoint describes it.
 */
export async function invoke(
  handler: unknown,
  request: EndpointRequest = {},
): Promise<TestResponse> {
  const event = eventOf(request);
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

/** Context that Lambda gives a handler about its run. */
export const lambdaContext = () => contextOf('test', 29_000);
