import { AsyncLocalStorage } from 'node:async_hooks';

/** An operation, and the activity of people that it is a part of, if any. */
export interface Operation {
  name: string;
  /** `publish`, `vote` and so on. Set on AWS alone, where alarms go by it. */
  activity?: string | undefined;
}

const running = new AsyncLocalStorage<Operation>();

/** Runs a function as an operation, so that metrics and the log know its name. */
export function runAs<T>(operation: Operation, run: () => T): T {
  return running.run(operation, run);
}

/** Returns the operation that runs, if it is known. */
export function currentOperation(): Operation | undefined {
  return running.getStore();
}
