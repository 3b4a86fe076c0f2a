import { SHARE_ENV, Worker } from 'node:worker_threads';
import { functions, type Load } from './invoke.ts';
import { addRoundTrips } from './round-trips.ts';
import type { Call, Outcome } from './thread.ts';

/** Threads that run the functions, so that all cores work for them, and what one computes holds up no request but those beside it. */
export interface Threads {
  load: Load;
  /** What is under way is lost. */
  stop(): Promise<void>;
}

interface Thread {
  worker: Worker;
  isReady: boolean;
  calls: Map<number, (outcome: Outcome) => void>;
}

/** Calls that every thread has before another is started: whoever clicks one link after another needs no more than one. */
const busy = 4;

/** Takes the functions from `folder`. Starts one thread with the first call, and others when they are needed: `most` in all. */
export function startThreads(most: number, folder = functions): Threads {
  const threads = new Set<Thread>();
  const loaded = new Map<string, Promise<unknown>>();
  let calls = 0;

  function start(isReady: boolean): Thread {
    const file = new URL('./thread.ts', import.meta.url);
    const worker = new Worker(file, { env: SHARE_ENV, workerData: folder.href });
    const thread: Thread = { worker, isReady, calls: new Map() };
    threads.add(thread);
    worker.on('message', (outcome: Outcome) => {
      thread.calls.get(outcome.id)?.(outcome);
      thread.calls.delete(outcome.id);
    });
    worker.on('error', (error) => console.error('A thread has ended:', error));
    worker.on('exit', () => {
      threads.delete(thread);
      const error = new Error('the thread that ran this function has ended');
      for (const [id, end] of thread.calls) end({ id, roundTrips: 0, error });
    });
    return thread;
  }

  function send({ worker, calls: sent }: Thread, call: Omit<Call, 'id'>): Promise<Outcome> {
    const id = calls++;
    return new Promise((resolve) => {
      sent.set(id, resolve);
      worker.postMessage({ id, ...call });
    });
  }

  /** The least busy of those that have imported what the others have. */
  function pick(): Thread {
    const [first = start(true), ...others] = [...threads].filter(({ isReady }) => isReady);
    const found = others.reduce((a, b) => (b.calls.size < a.calls.size ? b : a), first);
    const isStarting = threads.size > others.length + 1;
    if (found.calls.size >= busy && threads.size < most && !isStarting) void prepare(start(false));
    return found;
  }

  async function prepare(thread: Thread): Promise<void> {
    await Promise.all([...loaded.keys()].map((operation) => send(thread, { operation })));
    thread.isReady = true;
  }

  /**
   * Ends a thread that answers nothing for as long again as a call of it may take, and a second at
   * least: its function never ends by itself.
   */
  async function probe(thread: Thread, operation: string, patience: number): Promise<void> {
    thread.isReady = false;
    const timer = setTimeout(
      () => {
        console.error(`${operation} gives no other function its turn: its thread is ended`);
        void thread.worker.terminate();
      },
      Math.max(1_000, patience),
    );
    await send(thread, { operation });
    clearTimeout(timer);
    thread.isReady = true;
  }

  async function call(request: Omit<Call, 'id'>): Promise<unknown> {
    const thread = pick();
    const { operation, run } = request;
    const overdue =
      run && setTimeout(() => void probe(thread, operation, run.timeout), run.timeout);
    const { roundTrips, result, error } = await send(thread, request);
    clearTimeout(overdue);
    addRoundTrips(roundTrips);
    if (error !== undefined) throw error;
    return result;
  }

  return {
    async load(operation) {
      const loading = loaded.get(operation) ?? call({ operation });
      loaded.set(operation, loading);
      await loading;
      return (event, context) =>
        call({ operation, run: { event, timeout: context.getRemainingTimeInMillis() } });
    },
    async stop() {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
