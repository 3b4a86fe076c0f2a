import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

// The table of stream records is the engine's own affair: its version is pinned.

/** The engine asks for the highest number of all stream records at every write: an index saves it from reading them. */
export function indexRecords(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(
    'CREATE INDEX IF NOT EXISTS by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
  );
  database.close();
}

/** In bytes: SQLite looks through so much in a fifth of a second. What is damaged in a larger file shows when it is read. */
const soonChecked = 256 * 1024 * 1024;

/** Throws a sentence where `file`, if there is one, is damaged or not the engine's: that would take any database for its own. */
export function refuseForeign(file: string): void {
  if (!existsSync(file)) return;
  const wayOut =
    'move it away to begin with an empty one, or choose another folder with --data-dir';
  const tables: unknown[] = [];
  try {
    const database = new DatabaseSync(file);
    for (const { name } of database.prepare('SELECT name FROM sqlite_schema').all()) {
      tables.push(name);
    }
    const { size } = statSync(file);
    const check = size < soonChecked && database.prepare('PRAGMA quick_check(1)').get();
    database.close();
    if (check && check.quick_check !== 'ok') throw new Error(`${check.quick_check}`);
  } catch (cause) {
    const message = (cause as Error).message.split('\n').at(-1);
    throw new Error(`the database ${file} cannot be read (${message}): ${wayOut}`, { cause });
  }
  if (tables.length > 0 && !tables.includes('_stream_records')) {
    throw new Error(`${file} is the database of another program: ${wayOut}`);
  }
}

/**
 * The engine keeps stream records for ever, so those that are done with are deleted behind its back. The last one stays,
 * because the engine numbers on from it.
 */
export function engineRecords(file: string) {
  const database = new DatabaseSync(file, { timeout: 100 });
  // Nothing is lost by losing a deletion, so it need not wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL');
  const remove = database.prepare(
    'DELETE FROM _stream_records WHERE id < (SELECT id FROM _stream_records WHERE sequence_number = ? LIMIT 1)',
  );
  const commits = database.prepare('PRAGMA data_version');
  return {
    removeBefore(sequenceNumber: number): void {
      try {
        remove.run(`${sequenceNumber}`);
      } catch {
        // Locked: the next call deletes these as well.
      }
    },
    /** Changes with every commit of another process; to ask costs next to nothing, a read of the stream does not. */
    version(): unknown {
      return commits.get()?.data_version;
    },
    close(): void {
      database.close();
    },
  };
}
