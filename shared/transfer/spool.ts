import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Item, Key } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { kindOfItem } from './item-record.ts';

/** Groups of kinds that are exported together. */
const groups = {
  user: 0,
  contact: 0,
  identity: 1,
  application: 2,
  grant: 3,
  review: 4,
  revision: 4,
  vote: 4,
  report: 4,
  case: 4,
  decision: 5,
  claim: 6,
} as const;
export type Group = (typeof groups)[keyof typeof groups];

/**
 * A scan of the table, stored on disk so that related items of a table of any size can be found.
 * One transaction stores a page and the position after it. An interrupted scan resumes there.
 */
export class Spool {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  /** Opens or creates the spool in `file`. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    // A killed process loses nothing. After a power failure the scan begins again.
    this.#database.exec('PRAGMA synchronous = OFF; PRAGMA temp_store = FILE');
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS items ("group" INTEGER, id TEXT, sk TEXT, claim TEXT, item TEXT);
      CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT)`);
    this.#insert = this.#database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?)');
    this.#find = this.#database.prepare(
      'SELECT 1 FROM items WHERE "group" = ? AND id = ? AND sk = ? LIMIT 1',
    );
  }

  /** Returns a value stored with `note`. */
  noted(name: string): string | undefined {
    const row = this.#database.prepare('SELECT value FROM state WHERE name = ?').get(name);
    return row && `${row.value}`;
  }

  note(name: string, value: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO state VALUES (?, ?)').run(name, value);
  }

  /** Position of the scan: undefined before it, null after it. */
  position(): Key | null | undefined {
    const noted = this.noted('position');
    return noted === undefined ? undefined : JSON.parse(noted);
  }

  /** Stores the exportable items of a page. Items being deleted are skipped. */
  add(items: readonly Item[], position: Key | undefined): void {
    this.#database.exec('BEGIN');
    for (const item of items) {
      const kind = kindOfItem(item);
      if (!kind || item.deleted_at !== undefined) continue;
      const id = idIn(item);
      const claim =
        kind === 'review' || kind === 'claim' ? `${item.user_id} ${item.entity_id}` : null;
      this.#insert.run(groups[kind], id, item.sk, claim, toJson(item));
    }
    this.note('position', JSON.stringify(position ?? null));
    this.#database.exec('COMMIT');
  }

  /** Creates the index that `read` needs. */
  sort(): void {
    this.#database.exec('CREATE INDEX IF NOT EXISTS by_key ON items ("group", id, sk)');
  }

  /** Reads the items of a group by id and sort key, all items of an id together. */
  *read(group: Group): Generator<{ id: string; items: Item[] }> {
    const rows = this.#database
      .prepare('SELECT id, item FROM items WHERE "group" = ? ORDER BY id, sk')
      .iterate(group);
    let last: { id: string; items: Item[] } | undefined;
    for (const { id, item } of rows) {
      if (last?.id !== id) {
        if (last) yield last;
        last = { id: `${id}`, items: [] };
      }
      last?.items.push(JSON.parse(`${item}`));
    }
    if (last) yield last;
  }

  /** Is true if the item exists. */
  has(group: Group, id: string, sk: string): boolean {
    return this.#find.get(group, id, sk) !== undefined;
  }

  /**
   * Returns ids of reviews that were deleted after they were read, and replaced by another review
   * or by a marked claim. Replaced marked claims are returned as `<user> <entity>`.
   */
  replaced(): Set<string> {
    const rows = this.#database
      .prepare(
        `SELECT iif(sk = 'REVIEW', id, claim) AS name, claim,
             coalesce(item ->> 'created', item ->> 'marked_at') AS since FROM items WHERE claim IN
           (SELECT claim FROM items WHERE claim IS NOT NULL GROUP BY claim HAVING count(*) > 1)
         ORDER BY claim, since DESC, name`,
      )
      .all();
    return new Set(
      rows.flatMap(({ name, claim }, i) => (rows[i - 1]?.claim === claim ? [`${name}`] : [])),
    );
  }

  close(): void {
    this.#database.close();
  }
}

/** Stores a rank as a string, because it exceeds a number of JSON. */
function toJson(item: Item): string {
  const { popularity_rank: rank } = item;
  return JSON.stringify(rank === undefined ? item : { ...item, popularity_rank: `${rank}` });
}
