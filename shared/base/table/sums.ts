import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Amounts } from './amounts.ts';
import type { Key } from './item.ts';

/** Opens a temporary file of SQLite, for more than memory has room for. SQLite deletes it. */
export function openTemporary(): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  return database;
}

/** Sums of numbers by item and attribute, in a table of SQLite. */
export class Sums {
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #add: StatementSync;

  /** Makes a table of this name, in a file of its own or in another one. */
  constructor(database = openTemporary(), name = 'sum') {
    this.#database = database;
    this.#name = name;
    database.exec(`
      CREATE TABLE ${name} (pk TEXT, sk TEXT, attribute TEXT, number INTEGER,
        PRIMARY KEY (pk, sk, attribute)) WITHOUT ROWID`);
    this.#add = database.prepare(
      `INSERT INTO ${name} VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number`,
    );
  }

  add({ pk, sk }: Key, attribute: string, number: number): void {
    this.#add.run(pk, sk, attribute, number);
  }

  addAll(amounts: Amounts): void {
    this.#database.exec('BEGIN');
    for (const { key, by } of amounts.values()) {
      for (const [attribute, number] of Object.entries(by)) this.add(key, attribute, number);
    }
    this.#database.exec('COMMIT');
  }

  /** Yields the sums of each item, without those of 0. */
  *items(): Generator<{ key: Key; by: Record<string, number> }> {
    const rows = this.#database.prepare(
      `SELECT * FROM ${this.#name} WHERE number <> 0 ORDER BY pk, sk`,
    );
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
