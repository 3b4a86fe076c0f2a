import { importFunction } from '../../infra/functions.ts';
import { type EndpointRequest, eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { budgetOf } from '../../infra/route-load.ts';
import { routes } from '../../shared/base/routes.ts';
import { metered, type Budget as RequestBudget } from '../../shared/base/table/budget.ts';
import { storage } from '../../shared/base/table/storage.ts';
import { countRoundTrips } from './round-trips.ts';

// Measures what a request costs: request units of the table, and round trips.

export interface Cost {
  status: number;
  /** Read and write request units of ReturnConsumedCapacity. Cancelled transactions report none. */
  read: number;
  write: number;
  /** Sequential round trips to the database. Parallel round trips count once. */
  roundTrips: number;
  /** Commands to the database. */
  commands: number;
  // biome-ignore lint/suspicious/noExplicitAny: the benchmark knows the shape of its own requests.
  body: any;
}

/** Limits of a request's cost. An absent limit is not checked. */
export type CostLimits = Partial<Pick<Cost, 'read' | 'write' | 'roundTrips'>>;

/** A request, its cost, and a sentence for each exceeded limit. */
export type Line = Required<CostLimits> & { name: string; broken: string[] };

/** Calls the handler of an operation and measures its database cost. */
export async function measure(operation: string, request: EndpointRequest): Promise<Cost> {
  return measureEvent(operation, eventOf(request));
}

/**
 * Measures 25 times, and returns the cost with the fewest round trips. Chains of requests that
 * run side by side may count twice on a busy machine.
 */
export async function measureCalmly(operation: string, request: EndpointRequest): Promise<Cost> {
  const costs: Cost[] = [];
  for (let i = 0; i < 25; i++) costs.push(await measure(operation, request));
  return costs.reduce((least, cost) => (cost.roundTrips < least.roundTrips ? cost : least));
}

/**
 * Does the same as `measure` with a ready event, within the budget of the route, as on a host. A
 * handler that throws counts as status 401.
 */
export async function measureEvent(operation: string, event: object): Promise<Cost> {
  const { handler } = await importFunction(operation);
  const route = routes.find((each) => each.operation === operation);
  const { result, ...cost } = await measureRun<{ statusCode?: number; body?: string }>(
    () => handler(event, contextOf(operation, 29_000)).catch(() => ({ statusCode: 401 })),
    route && budgetOf(route),
  );
  const { statusCode: status = 200, body } = result;
  return { ...cost, status, body: body?.startsWith('{') ? JSON.parse(body) : body };
}

/**
 * Counts what a run uses of the table. Commands outside the run, as of the stream, are not. Without
 * a DynamoDB, write units and round trips are NaN, which is within no limit.
 */
export async function measureRun<T>(run: () => Promise<T>, budget?: RequestBudget) {
  const tally = { roundTrips: 0 };
  const { result, usage } = await countRoundTrips(tally, () => metered(run, budget));
  if (storage()) return { result, ...usage, write: Number.NaN, roundTrips: Number.NaN };
  return { result, ...usage, ...tally };
}

/** Compares a cost with its budget. Throws if the answer has another status than expected. */
export function toLine(name: string, cost: Cost, budget: CostLimits, expected = 200): Line {
  const { status, body, read, write, roundTrips } = cost;
  if (status !== expected) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  const broken = (['read', 'write', 'roundTrips'] as const).flatMap((what) => {
    const most = budget[what] ?? Number.POSITIVE_INFINITY;
    return cost[what] > most ? [`${name}: ${what} ${cost[what]} > ${most}`] : [];
  });
  return { name, read, write, roundTrips, broken };
}
