import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { table } from '../../shared/table/client.ts';

/** What one request to an endpoint cost. Times are in milliseconds. */
export interface Cost {
  status: number;
  /** Read and write request units, as ReturnConsumedCapacity says. Cancelled transactions report none. */
  read: number;
  write: number;
  /** Round trips to the database in sequence: those that run side by side count once. */
  roundTrips: number;
  /** All of it, and the part in which no command to the database was under way. */
  total: number;
  own: number;
  /** The body, parsed where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: it is the benchmark's own request that it answers.
  body: any;
}

/** A request as an endpoint sees it, and what is expected of it. */
export interface BenchRequest {
  method?: string;
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  caller?: { user_id: string; client_id: string; scope: string };
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

/** Calls a handler and counts what it does to the database. */
export async function measure(handler: unknown, request: BenchRequest): Promise<Cost> {
  const call = handler as (event: object, context: object) => Promise<APIGatewayProxyResult>;
  const event = eventOf(request);
  const { result, ...cost } = await measureRun(() => call(event, {}));
  const { statusCode: status, body } = result;
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
  return { result, read, write, ...sequence(calls, total) };
}

/** The event of Lambda proxy integration, as far as handlers look at it. */
export function eventOf({
  method = 'GET',
  path,
  query,
  headers = { 'Content-Type': 'application/json' },
  body,
  caller,
}: BenchRequest): APIGatewayProxyEvent {
  const lists = (values: object) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
  return {
    resource: '/1/bench',
    path: '/1/bench',
    httpMethod: method,
    headers: { ...headers, 'X-Forwarded-Proto': 'https' },
    multiValueHeaders: lists(headers),
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: query && lists(query),
    pathParameters: path ?? null,
    stageVariables: null,
    body: typeof body === 'string' ? body : body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'bench', authorizer: caller, httpMethod: method },
  } as unknown as APIGatewayProxyEvent;
}

/** Numbers in ascending order at a share of the way, such as 0.5 for the median. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Of calls to the database: the round trips are the groups that overlap, and the rest of the time is ours. */
export function sequence(all: readonly Call[], total: number) {
  let roundTrips = 0;
  let away = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const { start, end } of all.toSorted((a, b) => a.start - b.start)) {
    if (start >= until) roundTrips += 1;
    away += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return { roundTrips, total, own: total - away };
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
