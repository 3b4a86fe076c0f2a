import { expect } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type EndpointRequest, eventOf } from '../../infra/local/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { checkResponse, routeOf } from './contract.ts';

/** A response. A JSON body is parsed. */
export interface TestResponse {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies before they check their types.
  body: any;
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => unknown;

/**
 * Calls a handler as API Gateway's REST API does with Lambda proxy integration. Throws if the
 * response differs from its endpoint's description.
 */
export async function invoke(
  handler: unknown,
  request: EndpointRequest = {},
): Promise<TestResponse> {
  const event = eventOf(request);
  const result = (await (handler as Handler)(event, lambdaContext())) as APIGatewayProxyResult;
  const all = { ...result.headers, ...result.multiValueHeaders };
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), [value].flat().join('\n')]),
  );
  const isJson = headers['content-type'] === 'application/json';
  const body = isJson && result.body !== '' ? JSON.parse(result.body) : result.body;
  const route = await routeOf(handler);
  const { method = 'GET' } = request;
  if (route) await checkResponse({ route, method, status: result.statusCode, body });
  return { status: result.statusCode, headers, body };
}

/** Returns what `toMatchObject` finds in the answer to an invalid request. */
export function invalid(description: string | RegExp) {
  const isPattern = description instanceof RegExp;
  const expected = isPattern ? expect.stringMatching(description) : description;
  return { status: 400, body: { error: 'invalid_request', description: expected } };
}

/** The context that Lambda passes to a handler. */
export const lambdaContext = () => contextOf('test', 29_000);
