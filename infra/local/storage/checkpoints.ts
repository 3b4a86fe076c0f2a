import { Worker } from 'node:worker_threads';

/**
 * Copies what is committed from the log of a database to its file, in a thread of its own: it waits
 * for the disk. Ends when the returned function is called.
 */
export function followCheckpoints(file: string): () => Promise<unknown> {
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
    workerData: { file },
  });
  worker.unref();
  worker.on('error', (error) => console.error('The log of the database only grows:', error));
  return () => worker.terminate();
}
