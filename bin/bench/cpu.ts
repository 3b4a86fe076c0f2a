import { importFunction } from '../../infra/functions.ts';
import { type EndpointRequest, eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { batchGet } from '../../shared/base/table/batch.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { busiest, type ListedReview } from './lists.ts';
import { measure } from './measure.ts';

// CPU of the requests that visitors make most, with SQLite in this process. A machine is fast or
// slow, so a budget is a multiple of the CPU that a read of 50 reviews takes.

/** CPU of a request, and a sentence for each exceeded limit. */
interface CpuLine {
  name: string;
  milliseconds: number;
  broken: string[];
}

/** Multiples of the CPU of `unit`. */
const budgets: Record<string, number> = {
  'get-review': 1,
  'list-reviews': 8,
  'show-home': 4,
  'show-review': 3,
  'show-entity': 8,
};

/** The unit of all measurements: one command that reads 50 reviews. */
const unit = 'read of 50 reviews';

/** Requests of a kind before the next kind has its turn. */
const requestsInTurn = 20;

/** Measures the requests. */
export async function benchCpu({ turns = 32 } = {}): Promise<CpuLine[]> {
  const { entity_id } = await busiest();
  const newest = await measure('list-reviews', { query: { entity_id, limit: '1' } });
  const [{ id: review_id }] = newest.body.reviews;
  const listed = await measure('list-reviews', { query: { limit: '50' } });
  const keys = listed.body.reviews.map(({ id }: ListedReview) => reviewKey(id));
  const runs: [name: string, run: () => Promise<unknown>][] = [
    [unit, () => batchGet(keys, { consistent: false })],
    ['get-review', await runOf('get-review', { path: { review_id } })],
    ['list-reviews', await runOf('list-reviews', { query: { limit: '50' } })],
    ['show-home', await runOf('show-home', {})],
    ['show-review', await runOf('show-review', { path: { review_id } })],
    ['show-entity', await runOf('show-entity', { path: { entity_id } })],
  ];
  const requests = runs.map(([name, run]) => ({ name, run, times: [] as number[] }));
  // The first turns only compile the code.
  for (let turn = -4; turn < turns; turn++) {
    for (const { run, times } of requests) {
      const before = process.cpuUsage();
      for (let n = 0; n < requestsInTurn; n++) await run();
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) times.push((user + system) / 1_000 / requestsInTurn);
    }
  }
  const cpus = requests.map(({ name, times }) => ({ name, milliseconds: calm(times) }));
  return cpus.map(({ name, milliseconds }) =>
    toCpuLine(name, milliseconds, cpus[0]?.milliseconds ?? 0),
  );
}

/** The lower quartile: what a turn takes that others on the machine hardly disturbed. */
const calm = (turns: number[]) => turns.sort((a, b) => a - b)[turns.length >> 2] ?? 0;

/** Compares the CPU of a request with its budget, a multiple of `one`. All are milliseconds. */
export function toCpuLine(name: string, milliseconds: number, one: number): CpuLine {
  const times = milliseconds / one;
  const most = budgets[name] ?? Number.POSITIVE_INFINITY;
  const text = `${name}: CPU is ${times.toFixed(2)} of a ${unit} > ${most}`;
  return { name, milliseconds, broken: times > most ? [text] : [] };
}

/** Returns a function that runs the handler of an operation. Throws if the answer is not 200. */
async function runOf(operation: string, request: EndpointRequest) {
  const { handler } = await importFunction(operation);
  return async () => {
    const answer = await handler(eventOf(request), contextOf(operation, 29_000));
    const { statusCode } = answer as { statusCode: number };
    if (statusCode !== 200) throw new Error(`${operation}: ${statusCode}`);
  };
}
