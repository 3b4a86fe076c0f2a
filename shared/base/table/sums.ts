import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Amounts } from './amounts.ts';
import type { Key } from './item.ts';

/**
 * Sums of numbers by item and attribute, in a temporary file of SQLite: more than memory has room
 * for.
 */
export class Sums {
  // An empty name is a temporary file, which SQLite deletes.
  readonly #database = new DatabaseSync('');
  readonly #add: StatementSync;

  constructor() {
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE sum (pk TEXT, sk TEXT, attribute TEXT, number INTEGER,
        PRIMARY KEY (pk, sk, attribute)) WITHOUT ROWID`);
    this.#add = this.#database.prepare(
      'INSERT INTO sum VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number',
    );
  }

  add(amounts: Amounts): void {
    this.#database.exec('BEGIN');
    for (const { key, by } of amounts.values()) {
      for (const [attribute, number] of Object.entries(by)) {
        this.#add.run(key.pk, key.sk, attribute, number);
      }
    }
    this.#database.exec('COMMIT');
  }

  /** Yields the sums of each item, without those of 0. */
  *items(): Generator<{ key: Key; by: Record<string, number> }> {
    const rows = this.#database.prepare('SELECT * FROM sum WHERE number <> 0 ORDER BY pk, sk');
    let item: { key: Key; by: Record<string, number> } | undefined;
    for (const { pk, sk, attribute, number } of rows.iterate()) {
      if (item?.key.pk !== pk || item?.key.sk !== sk) {
        if (item) yield item;
        item = { key: { pk: `${pk}`, sk: `${sk}` }, by: {} };
      }
      if (item) item.by[`${attribute}`] = Number(number);
    }
    if (item) yield item;
  }

  close(): void {
    this.#database.close();
  }
}
