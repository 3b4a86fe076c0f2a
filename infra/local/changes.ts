import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { partsChanged, partsRead } from './parts.ts';
import type { RecordLog } from './record-log.ts';

/** Changes of the table, and a comparison with what a run has read. */
export interface Changes {
  /**
   * Looks for commits, and returns the number of the newest change. Undefined if it cannot be
   * known.
   */
  newest(): number | undefined;
  /** Returns true if something of `parts` has changed after the change of a number. */
  haveChanged(parts: Iterable<string>, number: number): boolean;
}

/** The name that stands for everything. */
const everything = 'everything';

/**
 * Parts that are remembered, each some 150 bytes: 3 MB. Beyond it everything counts as changed.
 * A vote changes some 60 parts, so this happens after 300 votes.
 */
const mostParts = 20_000;

/** Follows the changes that the records tell. `isStopped` once the database may be closed. */
export function followChanges(records: RecordLog, isStopped: () => boolean): Changes {
  /** The number of the last change of each part. */
  const numbers = new Map<string, number>();
  let newest = 0;
  /** The last change of which the parts are unknown. */
  let unknown = 0;

  function forget() {
    numbers.clear();
    unknown = newest;
  }

  records.watch((found) => {
    newest += 1;
    if (found === undefined) forget();
    for (const part of found?.flatMap(partsChanged) ?? []) numbers.set(part, newest);
    if (numbers.size > mostParts) forget();
  });
  return {
    newest() {
      if (isStopped()) return undefined;
      try {
        records.look();
        return newest;
      } catch {
        // Locked.
        return undefined;
      }
    },
    haveChanged(parts, number) {
      if (number < unknown) return true;
      for (const part of parts) {
        if (part === everything && number < newest) return true;
        if ((numbers.get(part) ?? 0) > number) return true;
      }
      return false;
    },
  };
}

const runs = new AsyncLocalStorage<Set<string>>();

/** Adds the parts that `run` reads to `parts`, before it reads them. */
export function noteReads<T>(parts: Set<string>, run: () => T): T {
  return runs.run(parts, run);
}

/** Lets `noteReads` know of the commands of a client. */
export function noteCommandsOf({ middlewareStack }: DynamoDBDocumentClient): void {
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const parts = runs.getStore();
        for (const part of (parts && partsRead(commandName, args.input)) ?? [everything]) {
          parts?.add(part);
        }
        return next(args);
      },
    { name: 'noteReads', step: 'initialize', override: true },
  );
}
