import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type EndpointRequest, eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { budgetOf } from '../../infra/route-load.ts';
import { currentOperation, runAs } from '../../shared/base/operation.ts';
import type { Route } from '../../shared/base/routes.ts';
import { type Budget, metered } from '../../shared/base/table/budget.ts';
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
  const route = await routeOf(handler);
  const { method = 'GET' } = request;
  const answer = await call(handler, request, route);
  if (route) await checkResponse({ route, method, status: answer.status, body: answer.body });
  return answer;
}

/** Calls a handler as `invoke` does, and compares nothing. */
export async function call(
  handler: unknown,
  request: EndpointRequest,
  route: Route | undefined,
): Promise<TestResponse> {
  const event = eventOf(request);
  const result = await withinItsBudget(route, async () =>
    (handler as Handler)(event, lambdaContext()),
  );
  const all = { ...result.headers, ...result.multiValueHeaders };
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name.toLowerCase(), [value].flat().join('\n')]),
  );
  const isJson = headers['content-type'] === 'application/json';
  const body = isJson && result.body !== '' ? JSON.parse(result.body) : result.body;
  return { status: result.statusCode, headers, body };
}

/** Runs a handler as a host does, as its operation. Throws if it passes the budget of its route. */
async function withinItsBudget(route: Route | undefined, run: () => Promise<unknown>) {
  const budget = route && budgetOf(route);
  const current = currentOperation();
  const isNamed = current !== undefined && current.name === route?.operation;
  const operation = isNamed ? current : { name: `${route?.operation}` };
  const { result, usage } = await metered(() => (route ? runAs(operation, run) : run()), budget);
  if (budget && Object.entries(budget).some(([what, most]) => usage[what as keyof Budget] > most)) {
    throw new Error(`${route.operation} used ${JSON.stringify(usage)} of the table`);
  }
  return result as APIGatewayProxyResult;
}

/** Returns what `toMatchObject` finds in the answer to an invalid request. */
export function invalid(description: string | RegExp) {
  const isPattern = description instanceof RegExp;
  const expected = isPattern ? expect.stringMatching(description) : description;
  return { status: 400, body: { error: 'invalid_request', description: expected } };
}

/** The context that Lambda passes to a handler. */
export const lambdaContext = () => contextOf('test', 29_000);
