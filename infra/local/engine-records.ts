import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

// The table of stream records is internal to the engine, whose version is pinned.

/** Adds an index: at every write the engine asks for the highest number of all stream records. */
export function indexRecords(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(
    'CREATE INDEX IF NOT EXISTS by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
  );
  database.close();
}

/** In bytes: checked in a fifth of a second. Damage in a larger file shows when it is read. */
const largestChecked = 256 * 1024 * 1024;

const moveAway =
  'move it away to start with an empty database, or choose another folder with --data-dir';

/**
 * Throws a sentence if `file` is damaged or another program's. The engine would accept both. `name`
 * and `remedy` are for the sentence.
 */
export function refuseForeign(file: string, { name = file, remedy = moveAway } = {}): void {
  if (!existsSync(file)) return;
  let tables: unknown[];
  try {
    const database = new DatabaseSync(file);
    tables = database
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map(({ name }) => name);
    const { size } = statSync(file);
    const check = size < largestChecked && database.prepare('PRAGMA quick_check(1)').get();
    database.close();
    if (check && check.quick_check !== 'ok') throw new Error(`${check.quick_check}`);
  } catch (cause) {
    const message = (cause as Error).message.split('\n').at(-1);
    throw new Error(`the database ${name} cannot be read (${message}): ${remedy}`, { cause });
  }
  if (tables.length > 0 && !tables.includes('_stream_records')) {
    throw new Error(`${name} is the database of another program: ${remedy}`);
  }
}

/**
 * Opens the engine's stream records, which it keeps for ever, to delete processed records. The last
 * record stays, because the engine takes its next number from it.
 */
export function engineRecords(file: string) {
  const database = new DatabaseSync(file, { timeout: 100 });
  // A lost deletion does no harm, so it need not wait for the disk.
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
        // Locked. The next call deletes these records as well.
      }
    },
    /** Changes with every commit of another process. Costs next to nothing. */
    version: (): unknown => commits.get()?.data_version,
    close: () => database.close(),
  };
}
