import { type FSWatcher, watch } from 'node:fs';

/** A look at the version of the database. */
export interface Look {
  /** Changes with every commit. */
  version: unknown;
  /** By `performance.now()`, before the version was read. */
  time: number;
}

/** The looks at the version of the database, which all consumers of the stream share. */
export interface Commits {
  look(): Look;
  /** Resolves with the next look of the clock, or at the stop. */
  next(): Promise<Look>;
  /** Looks at once, and then at short intervals. */
  hurry(): void;
  stop(): void;
}

/** In milliseconds, between two looks while there are commits. */
const interval = 50;
/** In milliseconds since the last commit, until the system watches the file. */
const longestClock = 300;
/** In milliseconds since the last commit. A disk may take a while from a write to its commit. */
const longestCommit = 2_000;
/** In milliseconds, between two looks until then, and later. */
const watchedInterval = { recent: 250, calm: 5_000 };

/**
 * Looks at the version at short intervals. Every wake costs a process more than the look itself, so
 * while nothing is written to the log of `file`, Linux wakes it (inotify). Without a version each
 * look seems to find a commit.
 */
export function watchCommits(version: () => unknown = () => Symbol(), file?: string): Commits {
  let next = Promise.withResolvers<Look>();
  let newest: unknown;
  let lastCommit = performance.now();
  let timer: NodeJS.Timeout;
  let watcher: FSWatcher | undefined;
  let isStopped = false;

  function look(): Look {
    const time = performance.now();
    try {
      return { time, version: version() };
    } catch {
      // Locked. The consumers read, and tell if they cannot.
      return { time, version: Symbol() };
    }
  }

  function tell(found: Look) {
    next.resolve(found);
    next = Promise.withResolvers();
  }

  function tick() {
    const found = look();
    if (found.version !== newest) wake();
    newest = found.version;
    tell(found);
    const age = found.time - lastCommit;
    if (!watcher && age > longestClock) rest();
    const { recent, calm } = watchedInterval;
    const pause = age > longestCommit ? calm : recent;
    timer = setTimeout(tick, watcher ? pause : interval);
  }

  function wake() {
    lastCommit = performance.now();
    watcher?.close();
    watcher = undefined;
  }

  function hurry() {
    if (isStopped) return;
    wake();
    clearTimeout(timer);
    tick();
  }

  /** Watches the log, and then looks whether something was written just before. */
  function rest() {
    if (file === undefined) return;
    try {
      watcher = watch(`${file}-wal`, hurry);
      watcher.once('error', wake);
      if (look().version !== newest) wake();
    } catch {
      // There is no log, or the system has no watch left: the clock goes on.
      lastCommit = performance.now();
    }
  }

  timer = setTimeout(tick, interval);
  return {
    look,
    next: () => next.promise,
    hurry,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      watcher?.close();
      tell({ time: 0, version: undefined });
    },
  };
}
