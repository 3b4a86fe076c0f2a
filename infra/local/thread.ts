import { parentPort, workerData } from 'node:worker_threads';
import { contextOf, loadFrom } from './invoke.ts';
import { readable } from './log.ts';
import { countRoundTrips, watchRequests } from './round-trips.ts';

/** What is asked of a thread: to import a function, or to run it. */
export interface Call {
  id: number;
  operation: string;
  run?: { event: unknown; timeout: number };
}

/** What became of a call. */
export interface Outcome {
  id: number;
  roundTrips: number;
  result?: unknown;
  error?: unknown;
}

const load = loadFrom(new URL(workerData));
for (const level of ['info', 'warn', 'error'] as const) {
  const print = console[level];
  console[level] = (...entries) => print(...entries.map(readable));
}
watchRequests();
process.on('unhandledRejection', (reason) => console.error('unhandled:', reason));
parentPort?.on('message', (call: Call) =>
  countRoundTrips((roundTrips) => answer(call, roundTrips)),
);

async function answer({ id, operation, run }: Call, roundTrips: () => number): Promise<void> {
  const post = (outcome: Partial<Outcome>) =>
    parentPort?.postMessage({ id, roundTrips: roundTrips(), ...outcome });
  try {
    const handler = await load(operation);
    if (!run) post({});
    else post({ result: await handler(run.event, contextOf(operation, run.timeout)) });
  } catch (error) {
    post({ error });
  }
}
