import { importFunction } from '../../infra/functions.ts';
import { type EndpointRequest, eventOf } from '../../infra/local/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { batchGet } from '../../shared/table/batch.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { busiest, type ListedReview } from './lists.ts';
import { measure } from './measure.ts';
import { runTimeOf } from './process-use.ts';

// CPU of the requests that visitors make most, of this process and of the embedded engine. A
// machine is fast or slow, so a budget is a multiple of the CPU that the SDK and the engine take to
// read 50 reviews. A request for one review would be a worse measure: it is dear on a busy machine.

/** Milliseconds of CPU for each request. */
interface Cpu {
  service: number;
  /** Undefined with another database. */
  engine: number | undefined;
}

/** CPU of a request, and a sentence for each exceeded limit. */
type CpuLine = Cpu & { name: string; broken: string[] };

/**
 * Multiples of the CPU of `unit` in both processes: the highest of nine runs with up to 20,000
 * reviews in up to 180 languages, three of them on a busy machine, and a tenth more.
 */
const budgets: Record<string, { service: number; engine: number }> = {
  'get-review': { service: 0.17, engine: 0.07 },
  'list-reviews': { service: 1.4, engine: 0.94 },
  'show-home': { service: 0.84, engine: 0.32 },
  'show-review': { service: 0.57, engine: 0.22 },
  'show-entity': { service: 1.25, engine: 0.58 },
};

/** The unit of all measurements: one command that reads 50 reviews. */
const unit = 'read of 50 reviews';

/** Requests of a kind before the next kind has its turn. */
const requestsInTurn = 20;

/** Measures the requests. `enginePid` is the process of the embedded engine, if there is one. */
export async function benchCpu(
  enginePid: number | null | undefined,
  { turns = 32 } = {},
): Promise<CpuLine[]> {
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
  const requests = runs.map(([name, run]) => ({
    name,
    run,
    service: [] as number[],
    engine: [] as number[],
  }));
  // The first turns only compile the code.
  for (let turn = -4; turn < turns; turn++) {
    for (const { run, service, engine } of requests) {
      const before = usedBy(enginePid);
      for (let n = 0; n < requestsInTurn; n++) await run();
      const after = usedBy(enginePid);
      if (turn < 0) continue;
      service.push((after.service - before.service) / requestsInTurn);
      engine.push((after.engine - before.engine) / requestsInTurn);
    }
  }
  const cpus = requests.map(({ name, service, engine }) => {
    return { name, service: calm(service), engine: enginePid ? calm(engine) : undefined };
  });
  return cpus.map((cpu, _, [first = cpu]) => toCpuLine(cpu.name, cpu, first));
}

/** The lower quartile: what a turn takes that others on the machine hardly disturbed. */
const calm = (turns: number[]) => turns.sort((a, b) => a - b)[turns.length >> 2] ?? 0;

/** Compares the CPU of a request with its budget, which is a multiple of `one` as a whole. */
export function toCpuLine(name: string, cpu: Cpu, one: Cpu): CpuLine {
  const broken = (['service', 'engine'] as const).flatMap((what) => {
    const times = Number(cpu[what]) / (one.service + (one.engine ?? 0));
    const most = budgets[name]?.[what] ?? Number.POSITIVE_INFINITY;
    const text = `${name}: CPU of the ${what} is ${times.toFixed(2)} of a ${unit} > ${most}`;
    return times > most ? [text] : [];
  });
  return { name, ...cpu, broken };
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

/** Milliseconds of CPU used so far. */
function usedBy(enginePid: number | null | undefined) {
  const { user, system } = process.cpuUsage();
  return { service: (user + system) / 1_000, engine: enginePid ? runTimeOf(enginePid) : 0 };
}
