import { AsyncLocalStorage } from 'node:async_hooks';
import { table } from '../../shared/table/client.ts';
import { type BenchRequest, eventOf } from './event.ts';

/** What one request to an endpoint cost. Times are in milliseconds. */
export interface Cost {
  status: number;
  /** Read and write request units, as ReturnConsumedCapacity says. Cancelled transactions report none. */
  read: number;
  write: number;
  /** Round trips to the database in sequence: those that run side by side count once. */
  roundTrips: number;
  /** From the call to the answer. */
  total: number;
  /** The body, parsed where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: it is the benchmark's own request that it answers.
  body: any;
}

interface Call {
  start: number;
  end: number;
}

/** What is counted for the run in whose course a command is sent; nothing for those of others, such as the stream's consumers. */
interface Tally {
  calls: Call[];
  read: number;
  write: number;
}

const tallies = new AsyncLocalStorage<Tally>();
let isMetered = false;

/** Calls the handler of an operation and counts what it does to the database. */
export async function measure(operation: string, request: BenchRequest): Promise<Cost> {
  return measureEvent(operation, eventOf(request));
}

/** The same of an event that is there already. A handler that throws is a refusal. */
export async function measureEvent(operation: string, event: object): Promise<Cost> {
  const { handler } = await import(`../../functions/${operation}.ts`);
  const { result, ...cost } = await measureRun<{ statusCode?: number; body?: string }>(() =>
    handler(event, {}).catch(() => ({ statusCode: 401 })),
  );
  const { statusCode: status = 200, body } = result;
  return { ...cost, status, body: body?.startsWith('{') ? JSON.parse(body) : body };
}

/** Counts what anything does to the database. */
export async function measureRun<T>(run: () => Promise<T>) {
  meter();
  const tally: Tally = { calls: [], read: 0, write: 0 };
  const start = performance.now();
  const result = await tallies.run(tally, run);
  const total = performance.now() - start;
  const { calls, read, write } = tally;
  return { result, read, write, roundTrips: roundTripsIn(calls), total };
}

/** Of calls to the database: the round trips are the groups that overlap. */
export function roundTripsIn(calls: readonly Call[]): number {
  let roundTrips = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { start, end } of calls.toSorted((a, b) => a.start - b.start)) {
    if (start >= until) roundTrips += 1;
    until = Math.max(until, end);
  }
  return roundTrips;
}

function meter(): void {
  if (isMetered) return;
  isMetered = true;
  const send = table.send.bind(table) as (command: Command) => Promise<Answer>;
  Object.assign(table, {
    async send(command: Command): Promise<Answer> {
      const tally = tallies.getStore();
      if (!tally) return send(command);
      const call: Call = { start: performance.now(), end: 0 };
      tally.calls.push(call);
      command.input.ReturnConsumedCapacity = 'TOTAL';
      try {
        const answer = await send(command);
        for (const { CapacityUnits = 0 } of [answer.ConsumedCapacity ?? []].flat()) {
          if (/Write|Put|Update|Delete/.test(command.constructor.name))
            tally.write += CapacityUnits;
          else tally.read += CapacityUnits;
        }
        return answer;
      } finally {
        call.end = performance.now();
      }
    },
  });
}

interface Command {
  input: { ReturnConsumedCapacity?: string };
}

interface Answer {
  ConsumedCapacity?: Units | Units[];
}

interface Units {
  CapacityUnits?: number;
}
