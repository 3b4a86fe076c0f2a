import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Item, Key } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { kindOfItem } from './item-record.ts';

/** What lies together in an export: kinds by the group that they are sorted into. */
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
 * A scan of the table on disk, so that what belongs together is found however much there is. Each page and the position after it are one
 * transaction: whoever was interrupted goes on there.
 */
export class Spool {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  /** Opens the spool in `file`, or makes it. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    // A killed process loses nothing by it; a computer without power begins anew.
    this.#database.exec('PRAGMA synchronous = OFF; PRAGMA temp_store = FILE');
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS items ("group" INTEGER, id TEXT, sk TEXT, claim TEXT, item TEXT);
      CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT)`);
    this.#insert = this.#database.prepare('INSERT INTO items VALUES (?, ?, ?, ?, ?)');
    this.#find = this.#database.prepare(
      'SELECT 1 FROM items WHERE "group" = ? AND id = ? AND sk = ? LIMIT 1',
    );
  }

  /** Something about the scan that was noted with `note`. */
  noted(name: string): string | undefined {
    const row = this.#database.prepare('SELECT value FROM state WHERE name = ?').get(name);
    return row && `${row.value}`;
  }

  note(name: string, value: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO state VALUES (?, ?)').run(name, value);
  }

  /** Where the scan stands: undefined before it, null after it. */
  position(): Key | null | undefined {
    const noted = this.noted('position');
    return noted === undefined ? undefined : JSON.parse(noted);
  }

  /** Keeps of a page what is exported; what is being deleted is gone. */
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

  /** Makes the order in which it is read. */
  sort(): void {
    this.#database.exec('CREATE INDEX IF NOT EXISTS by_key ON items ("group", id, sk)');
  }

  /** The items of a group by id and sort key, those of an id at once. */
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

  /** Whether there is an item. */
  has(group: Group, id: string, sk: string): boolean {
    return this.#find.get(group, id, sk) !== undefined;
  }

  /**
   * Ids of reviews whose authors have deleted them since they were read, and have written another
   * one of the same entity or were kept from it; and likewise marked claims, as `<user> <entity>`.
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

/** Ranks are beyond what a number of JSON holds. */
function toJson(item: Item): string {
  const { popularity_rank: rank } = item;
  return JSON.stringify(rank === undefined ? item : { ...item, popularity_rank: `${rank}` });
}
