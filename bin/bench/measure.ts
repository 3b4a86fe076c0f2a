import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { importFunction } from '../../infra/functions.ts';
import { type EndpointRequest, eventOf } from '../../infra/local/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { countRoundTrips } from '../../infra/local/round-trips.ts';
import { table } from '../../shared/table/client.ts';

// Measures what a request costs: request units of the table, and round trips.

export interface Cost {
  status: number;
  /** Read and write request units of ReturnConsumedCapacity. Cancelled transactions report none. */
  read: number;
  write: number;
  /** Sequential round trips to the database. Parallel round trips count once. */
  roundTrips: number;
  // biome-ignore lint/suspicious/noExplicitAny: the benchmark knows the shape of its own requests.
  body: any;
}

/** Limits of a request's cost. An absent limit is not checked. */
export type Budget = Partial<Pick<Cost, 'read' | 'write' | 'roundTrips'>>;

/** A request, its cost, and a sentence for each exceeded limit. */
export type Line = Required<Budget> & { name: string; broken: string[] };

/** Request units of the current run. Commands outside a run, as of the stream, do not count. */
const units = new AsyncLocalStorage<{ read: number; write: number }>();

type Consumed = ConsumedCapacity | ConsumedCapacity[];

table.middlewareStack.add(
  (next, { commandName = '' }) =>
    async (args) => {
      const tally = units.getStore();
      if (!tally) return next(args);
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' as const };
      const answer = await next({ ...args, input });
      const { ConsumedCapacity: consumed = [] } = answer.output as { ConsumedCapacity?: Consumed };
      const kind = /Write|Put|Update|Delete/.test(commandName) ? 'write' : 'read';
      for (const { CapacityUnits = 0 } of [consumed].flat()) {
        tally[kind] += CapacityUnits;
      }
      return answer;
    },
  { name: 'units', step: 'initialize', priority: 'high' },
);

/** Calls the handler of an operation and measures its database cost. */
export async function measure(operation: string, request: EndpointRequest): Promise<Cost> {
  return measureEvent(operation, eventOf(request));
}

/**
 * Measures three times, and returns the cost with the fewest round trips. Chains of requests that
 * run side by side may count twice on a busy machine.
 */
export async function measureCalmly(operation: string, request: EndpointRequest): Promise<Cost> {
  const costs: Cost[] = [];
  for (let i = 0; i < 3; i++) costs.push(await measure(operation, request));
  return costs.reduce((least, cost) => (cost.roundTrips < least.roundTrips ? cost : least));
}

/** Does the same as `measure` with a ready event. A handler that throws counts as status 401. */
export async function measureEvent(operation: string, event: object): Promise<Cost> {
  const { handler } = await importFunction(operation);
  const { result, ...cost } = await measureRun<{ statusCode?: number; body?: string }>(() =>
    handler(event, contextOf(operation, 29_000)).catch(() => ({ statusCode: 401 })),
  );
  const { statusCode: status = 200, body } = result;
  return { ...cost, status, body: body?.startsWith('{') ? JSON.parse(body) : body };
}

export async function measureRun<T>(run: () => Promise<T>) {
  const tally = { read: 0, write: 0, roundTrips: 0 };
  const result = await countRoundTrips(tally, () => units.run(tally, run));
  return { result, ...tally };
}

/** Compares a cost with its budget. Throws if the answer has another status than expected. */
export function toLine(name: string, cost: Cost, budget: Budget, expected = 200): Line {
  const { status, body, read, write, roundTrips } = cost;
  if (status !== expected) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  const broken = (['read', 'write', 'roundTrips'] as const).flatMap((what) => {
    const most = budget[what] ?? Number.POSITIVE_INFINITY;
    return cost[what] > most ? [`${name}: ${what} ${cost[what]} > ${most}`] : [];
  });
  return { name, read, write, roundTrips, broken };
}
