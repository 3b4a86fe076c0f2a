import { importFunction } from '../../infra/functions.ts';
import { type EndpointRequest, eventOf } from '../../infra/local/endpoint-event.ts';
import { contextOf } from '../../infra/local/invoke.ts';
import { busiest } from './lists.ts';
import { measure } from './measure.ts';
import { cpuOf } from './process-use.ts';

// CPU of the requests that visitors make most, of this process and of the embedded engine. A
// machine is fast or slow, so a budget is a multiple of the CPU that one review takes in the API.

/** Milliseconds of CPU for each request. */
interface Cpu {
  service: number;
  /** Undefined with another database. */
  engine: number | undefined;
}

/** CPU of a request, and a sentence for each exceeded limit. */
type CpuLine = Cpu & { name: string; broken: string[] };

/**
 * Multiples of the CPU of `get-review` in both processes: the highest of six runs with up to 20,000
 * reviews in up to 180 languages, and a quarter more. Runs differ by up to a quarter.
 */
const budgets: Record<string, { service: number; engine: number }> = {
  'list-reviews': { service: 5.1, engine: 2.8 },
  'show-home': { service: 3.3, engine: 1.2 },
  'show-review': { service: 3.3, engine: 1.1 },
  'show-entity': { service: 5.1, engine: 2 },
};

/** Requests of a kind before the next kind has its turn. */
const requestsInRound = 80;

/** Measures the requests. `enginePid` is the process of the embedded engine, if there is one. */
export async function benchCpu(
  enginePid: number | null | undefined,
  { rounds = 6 } = {},
): Promise<CpuLine[]> {
  const { entity_id } = await busiest();
  const newest = await measure('list-reviews', { query: { entity_id, limit: '1' } });
  const [{ id: review_id }] = newest.body.reviews;
  const requests: [name: string, request: EndpointRequest][] = [
    ['get-review', { path: { review_id } }],
    ['list-reviews', { query: { limit: '50' } }],
    ['show-home', {}],
    ['show-review', { path: { review_id } }],
    ['show-entity', { path: { entity_id } }],
  ];
  const runs = await Promise.all(requests.map(([name, request]) => runOf(name, request)));
  const sums = requests.map(() => ({ service: 0, engine: 0 }));
  // The first round only compiles the code.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, run] of runs.entries()) {
      const before = usedBy(enginePid);
      for (let n = 0; n < requestsInRound; n++) await run();
      const after = usedBy(enginePid);
      const sum = sums[i];
      if (!sum || round === 0) continue;
      sum.service += after.service - before.service;
      sum.engine += after.engine - before.engine;
    }
  }
  const cpus = sums.map(({ service, engine }): Cpu => {
    const each = (sum: number) => sum / rounds / requestsInRound;
    return { service: each(service), engine: enginePid ? each(engine) : undefined };
  });
  const [unit] = cpus as [Cpu];
  return cpus.map((cpu, i) => toCpuLine(requests[i]?.[0] ?? '', cpu, unit));
}

/** Compares the CPU of a request with its budget, which is a multiple of `unit` as a whole. */
export function toCpuLine(name: string, cpu: Cpu, unit: Cpu): CpuLine {
  const broken = (['service', 'engine'] as const).flatMap((what) => {
    const times = Number(cpu[what]) / (unit.service + (unit.engine ?? 0));
    const most = budgets[name]?.[what] ?? Number.POSITIVE_INFINITY;
    const text = `${name}: CPU of the ${what} is ${times.toFixed(2)} of get-review’s > ${most}`;
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
  return { service: (user + system) / 1_000, engine: enginePid ? cpuOf(enginePid) : 0 };
}
