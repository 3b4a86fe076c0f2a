import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Item, idIn, type Key, toJson } from '../../base/table/item.ts';
import { type ExportedKind, type KindName, kindOf, kinds } from '../kinds.ts';
import { exportedKindOf, thingsOf } from './item-record.ts';

/** Items of some kinds are read together with a user or review. */
const groupOf = (kind: KindName) => kinds[kind].beside ?? kind;

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
      CREATE TABLE IF NOT EXISTS spooled (kind TEXT, id TEXT, sk TEXT, claim TEXT, item TEXT);
      CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT)`);
    this.#insert = this.#database.prepare('INSERT INTO spooled VALUES (?, ?, ?, ?, ?)');
    this.#find = this.#database.prepare(
      'SELECT 1 FROM spooled WHERE kind = ? AND id = ? AND sk = ? LIMIT 1',
    );
  }

  noted(name: string): string | undefined {
    const row = this.#database.prepare('SELECT value FROM notes WHERE name = ?').get(name);
    return row && `${row.value}`;
  }

  note(name: string, value: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?)').run(name, value);
  }

  /** Position of the scan: undefined before it, null after it. */
  position(): Key | null | undefined {
    const position = this.noted('position');
    return position && JSON.parse(position);
  }

  /** Stores the exportable items of a page. Items being deleted are skipped. */
  add(items: readonly Item[], position: Key | undefined): void {
    this.#database.exec('BEGIN');
    for (const item of items) {
      const kind = exportedKindOf(item);
      if (!kind || item.deleted_at !== undefined) continue;
      const hasClaim = kind === 'review' || kind === 'claim';
      const claim = hasClaim ? `${item.user_id} ${item.entity_id}` : null;
      this.#insert.run(groupOf(kind), idIn(item), item.sk, claim, toJson(item));
    }
    this.note('position', JSON.stringify(position ?? null));
    this.#database.exec('COMMIT');
  }

  /** Creates the index that `read` needs. */
  sort(): void {
    this.#database.exec('CREATE INDEX IF NOT EXISTS by_key ON spooled (kind, id, sk)');
  }

  /** Reads the items of a kind and their parts by id, all items of an id together by sort key. */
  *read(kind: ExportedKind): Generator<{ id: string; items: Item[] }> {
    const rows = this.#database.prepare(
      'SELECT id, item FROM spooled WHERE kind = ? ORDER BY id, sk',
    );
    let last: { id: string; items: Item[] } | undefined;
    for (const { id, item } of rows.iterate(kind)) {
      if (last?.id !== id) {
        if (last) yield last;
        last = { id: `${id}`, items: [] };
      }
      last?.items.push(JSON.parse(`${item}`));
    }
    if (last) yield last;
  }

  /** Returns true for the key of an item that is exported. */
  has(key: Key): boolean {
    const kind = kindOf(key);
    return kind !== undefined && this.#find.get(groupOf(kind), idIn(key), key.sk) !== undefined;
  }

  /** Returns true if the things that an item is of are exported. */
  hasThings(item: Item): boolean {
    return thingsOf(item).every((key) => this.has(key));
  }

  /**
   * Returns ids of reviews that were deleted after they were read, and replaced by another review
   * or by a marked claim. Replaced marked claims are returned as `<user> <entity>`.
   */
  replaced(): Set<string> {
    const rows = this.#database
      .prepare(
        `SELECT iif(sk = 'REVIEW', id, claim) AS name, claim,
             coalesce(item ->> 'created', item ->> 'marked_at', item ->> 'left_at') AS since FROM spooled WHERE claim IN
           (SELECT claim FROM spooled WHERE claim IS NOT NULL GROUP BY claim HAVING count(*) > 1)
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
