import type { StatementSync } from 'node:sqlite';
import { type Item, type Key, toJson } from '../../base/table/item.ts';
import { openTemporary } from '../../base/table/sums.ts';
import { applicationKey, entityKey, reviewKey } from '../../core/keys.ts';
import { kindOf, kinds } from '../kinds.ts';
import type { Source } from './source.ts';

/** One scan of the table, in a temporary file of SQLite, so that memory stays flat. */
export class Snapshot implements Source {
  readonly #database = openTemporary();
  readonly #insert: StatementSync;
  readonly #partition: StatementSync;
  readonly #item: StatementSync;
  readonly #ofEntity: StatementSync;
  readonly #ofUser: StatementSync;
  readonly #applications: StatementSync;

  constructor() {
    const database = this.#database;
    database.exec(`
      CREATE TABLE item (pk TEXT, sk TEXT, user_id TEXT, entity_id TEXT, content TEXT,
        PRIMARY KEY (pk, sk)) WITHOUT ROWID;
      CREATE INDEX by_user ON item (user_id, sk) WHERE user_id IS NOT NULL;
      CREATE INDEX by_entity ON item (entity_id) WHERE entity_id IS NOT NULL`);
    this.#insert = database.prepare('INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?)');
    this.#partition = database.prepare('SELECT content FROM item WHERE pk = ? ORDER BY sk');
    this.#item = database.prepare('SELECT content FROM item WHERE pk = ? AND sk = ?');
    this.#ofEntity = database.prepare('SELECT content FROM item WHERE entity_id = ?');
    const ofUser = `FROM item WHERE user_id = ? AND sk = ?`;
    this.#ofUser = database.prepare(`SELECT content ${ofUser}`);
    this.#applications = database.prepare(`SELECT count(*) AS number ${ofUser}`);
  }

  /** Adds a page of the scan. */
  add(items: readonly Item[]): void {
    this.#database.exec('BEGIN');
    for (const item of items) {
      const kind = kindOf(item);
      if (!kind || !kinds[kind].isCounted) continue;
      const { pk, sk } = item;
      const isReview = kind === 'review';
      const isOwned = isReview || kind === 'application';
      const user = isOwned ? `${item.user_id}` : null;
      const entity = isReview ? `${item.entity_id}` : null;
      this.#insert.run(pk, sk, user, entity, toJson(item));
    }
    this.#database.exec('COMMIT');
  }

  /**
   * Yields the keys of all partitions, also of reviewed entities whose counts are missing. An entry
   * of a thing has its whole key: it is checked alone, because such partitions are large.
   */
  *partitions(): Generator<string> {
    const all = this.#database.prepare(`
      SELECT iif(pk GLOB 'WORD#*' OR pk GLOB 'THINGS#*', pk || char(10) || sk, pk) AS pk FROM item
      UNION SELECT ? || entity_id FROM item WHERE entity_id IS NOT NULL`);
    for (const { pk } of all.iterate(entityKey('').pk)) yield `${pk}`;
  }

  async partition(pk: string): Promise<Item[]> {
    return this.#partition.all(pk).map(itemIn);
  }

  async item({ pk, sk }: Key): Promise<Item | undefined> {
    const row = this.#item.get(pk, sk);
    return row && itemIn(row);
  }

  *reviewsOfEntity(entityId: string): Generator<Item> {
    for (const row of this.#ofEntity.iterate(entityId)) yield itemIn(row);
  }

  *reviewsOfUser(userId: string): Generator<Item> {
    for (const row of this.#ofUser.iterate(userId, reviewKey('').sk)) yield itemIn(row);
  }

  async applicationsOf(userId: string): Promise<number> {
    return Number(this.#applications.get(userId, applicationKey('').sk)?.number);
  }

  close(): void {
    this.#database.close();
  }
}

function itemIn({ content }: Record<string, unknown>): Item {
  return JSON.parse(`${content}`);
}
