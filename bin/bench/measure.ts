import { AsyncLocalStorage } from 'node:async_hooks';
import { contextOf } from '../../infra/local/invoke.ts';
import { countRoundTrips } from '../../infra/local/round-trips.ts';
import { table } from '../../shared/table/client.ts';
import { type EndpointRequest, eventOf } from './event.ts';

/** Cost of one request to an endpoint. */
export interface Cost {
  status: number;
  /** Read and write request units, as ReturnConsumedCapacity says. Cancelled transactions report none. */
  read: number;
  write: number;
  /** Round trips to the database in sequence: those that run side by side count once. */
  roundTrips: number;
  /** The body, parsed where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: it is the benchmark's own request that it answers.
  body: any;
}

/** The most that a request may cost. Absent is not limited. */
export type Budget = Partial<Pick<Cost, 'read' | 'write' | 'roundTrips'>>;

/** A request, its cost, and what is over its budget, in words. */
export interface Line extends Required<Budget> {
  name: string;
  broken: string[];
}

/**
 * Units of the run in whose course a command is sent. Other commands, such as those of the stream's
 * consumers, have none.
 */
const units = new AsyncLocalStorage<{ read: number; write: number }>();

table.middlewareStack.add(
  (next, { commandName = '' }) =>
    async (args) => {
      const tally = units.getStore();
      if (!tally) return next(args);
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' as const };
      const answer = await next({ ...args, input });
      const { ConsumedCapacity: consumed } = answer.output as { ConsumedCapacity?: Used | Used[] };
      const isWrite = /Write|Put|Update|Delete/.test(commandName);
      for (const { CapacityUnits = 0 } of [consumed ?? []].flat()) {
        tally[isWrite ? 'write' : 'read'] += CapacityUnits;
      }
      return answer;
    },
  { name: 'units', step: 'initialize', priority: 'high' },
);

interface Used {
  CapacityUnits?: number;
}

/** Calls the handler of an operation and counts what it does to the database. */
export async function measure(operation: string, request: EndpointRequest): Promise<Cost> {
  return measureEvent(operation, eventOf(request));
}

/** Does the same with an event that is there already. A handler that throws is a refusal. */
export async function measureEvent(operation: string, event: object): Promise<Cost> {
  const { handler } = await import(`../../functions/${operation}.ts`);
  const { result, ...cost } = await measureRun<{ statusCode?: number; body?: string }>(() =>
    handler(event, contextOf(operation, 29_000)).catch(() => ({ statusCode: 401 })),
  );
  const { statusCode: status = 200, body } = result;
  return { ...cost, status, body: body?.startsWith('{') ? JSON.parse(body) : body };
}

/** Counts what anything does to the database. */
export function measureRun<T>(run: () => Promise<T>) {
  return countRoundTrips(async (roundTrips) => {
    const tally = { read: 0, write: 0 };
    const result = await units.run(tally, run);
    return { result, ...tally, roundTrips: roundTrips() };
  });
}

/** Holds a cost to its budget. Throws when the request was refused. */
export function toLine(name: string, cost: Cost, budget: Budget): Line {
  const { status, body, read, write, roundTrips } = cost;
  if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  const broken = (['read', 'write', 'roundTrips'] as const).flatMap((what) => {
    const most = budget[what] ?? Number.POSITIVE_INFINITY;
    return cost[what] > most ? [`${name}: ${what} ${cost[what]} > ${most}`] : [];
  });
  return { name, read, write, roundTrips, broken };
}

/** A line as text, under `heading`. */
export function format({ name, read, write, roundTrips }: Line): string {
  return row(name, [read, write, roundTrips]);
}

export const heading = row('', ['RRU', 'WRU', 'trips']);

function row(name: string, cells: readonly (string | number)[]): string {
  return name.padEnd(38) + cells.map((cell) => `${cell}`.padStart(8)).join('');
}
