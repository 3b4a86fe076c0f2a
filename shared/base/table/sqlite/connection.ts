import { closeSync, fdatasync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TableBusy } from '../../errors.ts';
import { schema } from './rows.ts';

// A connection to the file of the table. Other processes may have the file open too, such as the
// operator's tool beside the service. A statement that waits for one of them must not block this
// process, so SQLite itself waits for nothing, and the wait is here.

/**
 * When a write is on the disk: `synced` before it is answered, `unsynced` at any time later, for
 * data that may be lost with the machine.
 */
export type Durability = 'synced' | 'unsynced';

/** In milliseconds: the longest wait for the write of another process. */
const patience = 8_000;

/** In milliseconds: the longest work before other work of this process gets its turn. */
const longestTurn = 10;

/** In kilobytes, of pages that SQLite keeps in memory. */
const cacheSize = 16_000;

/** The longest time (ms) and the most writes that a bulk load commits together. */
const bulk = { milliseconds: 50, writes: 200 };

/** Pages of the log, of 4 KB, after which a bulk load copies them to the file. */
const pagesOfBulk = 8_000;

const sync = promisify(fdatasync);

export interface Connection {
  /** Prepares a statement, once for each text. */
  prepare(sql: string): StatementSync;
  /** Runs a read. Waits while the file is locked. */
  read<T>(run: () => T): Promise<T>;
  /** Runs a transaction, which is on the disk when this resolves. Throws `TableBusy` after 8 s. */
  write<T>(run: () => T): Promise<T>;
  /**
   * Runs `work`, whose writes are committed together. What was not committed is lost with this
   * process, although its write has resolved.
   */
  inBulk<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything that is committed is on the disk. */
  synced(): Promise<void>;
  /** Changes with each commit, also of another process. */
  version(): string;
  /** Calls `listener` after each commit of this process. */
  onCommit(listener: () => void): void;
  close(): void;
}

/** Opens the file, and creates it for this user alone if there is none. */
export function openConnection(file: string, durability: Durability): Connection {
  const isFile = file !== ':memory:';
  // SQLite would let everybody read it. Its other files get the mode of this one.
  if (isFile) closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL');
  // The log is synced after the commit, below, where that blocks nothing.
  database.exec(`PRAGMA synchronous = ${durability === 'synced' ? 'NORMAL' : 'OFF'}`);
  database.exec(`PRAGMA cache_size = -${cacheSize}`);
  createSchema(database);
  database.exec('PRAGMA busy_timeout = 0');
  const log = isFile && durability === 'synced' ? openSync(`${file}-wal`, 'r+') : undefined;

  const statements = new Map<string, StatementSync>();
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');

  const others = database.prepare('PRAGMA data_version');
  const listeners: (() => void)[] = [];
  let commits = 0;

  let syncing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  /** Commits that wait share one sync. After a failure all fail: nobody knows what is lost. */
  function synced(): Promise<void> {
    if (log === undefined) return Promise.resolve();
    next ??= syncing.then(() => {
      next = undefined;
      syncing = sync(log);
      return syncing;
    });
    return next;
  }

  let turnBegan: number | undefined;
  /** Yields to the other work of this process, which a loop over the table would stop. */
  async function breathe(): Promise<void> {
    const now = performance.now();
    if (turnBegan === undefined) {
      turnBegan = now;
      setImmediate(() => {
        turnBegan = undefined;
      });
    } else if (now - turnBegan > longestTurn) {
      await nextTurn();
    }
  }

  async function whenFree<T>(run: () => T): Promise<T> {
    await breathe();
    const end = performance.now() + patience;
    for (let pause = 1; ; pause = Math.min(50, pause * 2)) {
      try {
        return run();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() > end) throw new TableBusy();
      }
      await sleep(pause * (0.5 + Math.random()));
    }
  }

  let isBulk = false;
  let committing: NodeJS.Timeout | undefined;
  let together = 0;
  let began = 0;

  function transaction<T>(run: () => T): T {
    begin.run();
    try {
      const done = run();
      commit.run();
      commits += 1;
      return done;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  /** A transaction within one that is committed later. */
  function partOfBulk<T>(run: () => T): T {
    if (!database.isTransaction) {
      begin.run();
      began = performance.now();
      committing = setTimeout(commitBulk, bulk.milliseconds);
    }
    database.exec('SAVEPOINT part');
    try {
      const done = run();
      database.exec('RELEASE part');
      if (++together >= bulk.writes || performance.now() - began > bulk.milliseconds) commitBulk();
      return done;
    } catch (error) {
      database.exec('ROLLBACK TO part; RELEASE part');
      throw error;
    }
  }

  function commitBulk(): void {
    clearTimeout(committing);
    together = 0;
    if (database.isTransaction) commit.run();
    commits += 1;
  }

  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = database.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    read: whenFree,
    async write(run) {
      if (isBulk) return whenFree(() => partOfBulk(run));
      const result = await whenFree(() => transaction(run));
      await synced();
      for (const notify of listeners) notify();
      return result;
    },
    async inBulk(work) {
      isBulk = true;
      database.exec(`PRAGMA wal_autocheckpoint = ${pagesOfBulk}`);
      try {
        return await work();
      } finally {
        isBulk = false;
        commitBulk();
        database.exec('PRAGMA wal_autocheckpoint = 1000');
        await synced();
      }
    },
    synced,
    version: () => `${commits} ${others.get()?.data_version}`,
    onCommit(listener) {
      listeners.push(listener);
    },
    close() {
      if (log !== undefined) closeSync(log);
      database.close();
    },
  };
}

function createSchema(database: DatabaseSync): void {
  const hasSchema = () => database.prepare('PRAGMA user_version').get()?.user_version !== 0;
  if (hasSchema()) return;
  database.exec('BEGIN IMMEDIATE');
  // Another process may have created it meanwhile.
  if (!hasSchema()) database.exec(schema);
  database.exec('COMMIT');
}

/** SQLITE_BUSY, with all its variants. */
function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;
}
