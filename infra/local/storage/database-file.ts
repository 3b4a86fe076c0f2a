import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** In bytes: checked in a fifth of a second. Damage in a larger file shows when it is read. */
const largestChecked = 256 * 1024 * 1024;

const moveAway =
  'move it away to start with an empty database, or choose another folder with --data-dir';

/**
 * Throws a sentence if `file` is damaged or another program's. `table` is one that ours has. `name`
 * and `remedy` are for the sentence.
 */
export function refuseForeign(
  file: string,
  { table = 'change', name = file, remedy = moveAway } = {},
): void {
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
  if (tables.length > 0 && !tables.includes(table)) {
    throw new Error(`${name} is the database of another program: ${remedy}`);
  }
}
