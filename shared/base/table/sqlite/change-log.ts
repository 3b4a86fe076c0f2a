import type { Item, Key } from '../item.ts';
import type { Connection } from './connection.ts';
import { itemOf, type Stored } from './rows.ts';

// The changes of the table, in the order of their commits, until all consumers have processed them.

/** A change of an item, which is parsed when it is read. */
export interface ItemChange {
  /** Rises with each change. */
  number: number;
  /** Epoch ms. */
  time: number;
  key: Key;
  before(): Item | undefined;
  after(): Item | undefined;
}

/** A page of changes ends when its items have so many characters, as GetRecords on AWS at 1 MB. */
const largestPage = 1024 * 1024;

const mostChanges = 1_000;

interface Row extends Key {
  number: number;
  time: number;
  before: string | null;
  before_rank: string | null;
  after: string | null;
  after_rank: string | null;
}

export class ChangeLog {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Adds a change, within the transaction that makes it. */
  add({ pk, sk }: Key, before: Stored | undefined, after: Stored | undefined): void {
    this.#connection
      .prepare(
        'INSERT INTO change (time, pk, sk, before, before_rank, after, after_rank) VALUES (?, ?, ?, ?, ?, ?, ?)',
      )
      .run(
        Date.now(),
        pk,
        sk,
        before?.json ?? null,
        before?.rank ?? null,
        after?.json ?? null,
        after?.rank ?? null,
      );
  }

  /** Returns the first changes after a number, when they are on the disk. */
  async after(number: number): Promise<ItemChange[]> {
    const rows = this.#connection.prepare(
      `SELECT * FROM change WHERE number > ? ORDER BY number LIMIT ${mostChanges}`,
    );
    const changes = await this.#connection.read(() => {
      const page: ItemChange[] = [];
      let size = 0;
      for (const row of rows.iterate(number) as Iterable<unknown> as Iterable<Row>) {
        page.push(changeOf(row));
        size += (row.before?.length ?? 0) + (row.after?.length ?? 0);
        if (size >= largestPage) break;
      }
      return page;
    });
    // What nobody may see after a power cut has no consequences before it.
    if (changes.length > 0) await this.#connection.synced();
    return changes;
  }

  /** Deletes the changes up to a number. */
  async delete(number: number): Promise<void> {
    const deletion = this.#connection.prepare('DELETE FROM change WHERE number <= ?');
    await this.#connection.write(() => deletion.run(number));
  }
}

function changeOf({ number, time, pk, sk, ...row }: Row): ItemChange {
  return {
    number,
    time,
    key: { pk, sk },
    before: once(row.before, row.before_rank),
    after: once(row.after, row.after_rank),
  };
}

function once(json: string | null, rank: string | null): () => Item | undefined {
  let item: Item | undefined;
  return () => {
    if (json !== null) item ??= itemOf({ json, rank });
    return item;
  };
}
