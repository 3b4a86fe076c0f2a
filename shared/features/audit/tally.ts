import type { StatementSync } from 'node:sqlite';
import { chunksOf } from '../../base/chunks.ts';
import { isTotalKey, sumsKey, totalKey } from '../../base/list/keys.ts';
import { leafCapacity } from '../../base/list/rank-tree.ts';
import { type Counts, countsInSums } from '../../base/list/totals.ts';
import { type Item, type Key, keyString } from '../../base/table/item.ts';
import { openTemporary, Sums } from '../../base/table/sums.ts';
import {
  type Contribution,
  contribution,
  counters,
  isSame,
  ownerKey,
  readProjection,
  removed,
} from '../../core/aggregates/contribution.ts';
import { entityTypes } from '../../core/entity/entity-type.ts';
import {
  countsKey,
  deferredKey,
  entityKey,
  projectionKey,
  reviewKey,
  userKey,
} from '../../core/keys.ts';
import { totalNames } from '../../core/review/owner-counts.ts';

/** A counter as stored and as counted; 0 where it is absent. */
export interface CounterDifference extends Key {
  attribute: string;
  stored: number;
  counted: number;
}

const contributionKinds = new Set([reviewKey('').sk, userKey('').sk]);
const ownerKinds = new Set([countsKey('').sk, entityKey('').sk]);

/**
 * Totals and rank trees, as stored and counted anew from one scan of the table. Everything is in a
 * temporary file of SQLite, so memory stays flat.
 */
export class Tally {
  readonly #database = openTemporary();
  readonly #insert: Record<'actual' | 'projected', StatementSync>;
  readonly #lengthen: StatementSync;
  readonly #grown: StatementSync;
  readonly #stored = new Sums(this.#database, 'stored');
  readonly #counted = new Sums(this.#database, 'counted');
  readonly #defer: StatementSync;
  readonly #hasTrees: StatementSync;
  #sums: Counts | undefined;

  constructor() {
    const database = this.#database;
    const contributions = '(pk TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID';
    database.exec(`
      CREATE TABLE actual ${contributions}; CREATE TABLE projected ${contributions};
      CREATE TABLE owner (pk TEXT PRIMARY KEY, length INTEGER, has_trees INTEGER) WITHOUT ROWID;
      CREATE TABLE deferred (sk TEXT PRIMARY KEY) WITHOUT ROWID`);
    const inserting = (table: string) =>
      database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`);
    this.#insert = { actual: inserting('actual'), projected: inserting('projected') };
    this.#lengthen = database.prepare(
      'INSERT INTO owner VALUES (?, 1, 0) ON CONFLICT DO UPDATE SET length = length + 1',
    );
    this.#grown = database.prepare(
      'INSERT INTO owner VALUES (?, 0, 1) ON CONFLICT DO UPDATE SET has_trees = 1',
    );
    this.#hasTrees = database.prepare('SELECT has_trees FROM owner WHERE pk = ?');
    this.#defer = database.prepare('INSERT OR REPLACE INTO deferred VALUES (?)');
  }

  /** Adds a page of a scan. */
  add(items: readonly Item[]): void {
    this.#database.exec('BEGIN');
    for (const item of items) this.#add(item);
    this.#database.exec('COMMIT');
  }

  #add(item: Item): void {
    const { pk, sk } = item;
    if (contributionKinds.has(sk)) {
      const actual = contribution(item);
      this.#insert.actual.run(pk, JSON.stringify(actual));
      for (const owner of actual.owners) this.#lengthen.run(owner);
    } else if (sk === projectionKey(item).sk) {
      this.#insert.projected.run(pk, JSON.stringify(readProjection(item)));
    } else if (ownerKinds.has(sk)) {
      if (item.rank_tree !== undefined) this.#grown.run(pk);
    } else if (pk.startsWith('TREE#') || isTotalKey(item)) {
      this.#addStored(item);
    } else if (keyString(item) === keyString(sumsKey)) {
      this.#sums = countsInSums(item);
    } else if (pk === deferredKey('').pk) {
      this.#defer.run(sk);
      for (const { by, ...key } of item.counts as (Key & { by: Record<string, number> })[]) {
        this.#addStored({ ...key, ...by });
      }
    }
  }

  #addStored({ pk, sk, ...numbers }: Item): void {
    for (const [attribute, number] of Object.entries(numbers)) {
      // Totals may carry the lock of a rebuild.
      if (typeof number === 'number' && attribute !== 'until') {
        this.#stored.add({ pk, sk }, attribute, number);
      }
    }
  }

  /**
   * Counts every review and user as they are, and lists that became long in trees of their own. A
   * million take minutes, so this yields after each thousand.
   */
  *countActual(): Generator<void> {
    this.#database.prepare('UPDATE owner SET has_trees = 1 WHERE length > ?').run(leafCapacity);
    yield* this.#countAll('actual', (each) => this.#withTrees(each));
  }

  /** Counts what the projection states say. Totals and trees equal that at any moment. */
  countProjected(): void {
    for (const _ of this.#countAll('projected', (each) => each));
  }

  *#countAll(
    table: 'actual' | 'projected',
    countedIn: (each: Contribution) => Contribution,
  ): Generator<void> {
    for (const some of chunksOf(this.#read(table), 1_000)) {
      this.#database.exec('BEGIN');
      for (const { key, attribute } of some.flatMap((each) => counters(countedIn(each)))) {
        this.#counted.add(key, attribute, 1);
      }
      this.#database.exec('COMMIT');
      yield;
    }
  }

  /**
   * Yields the projection states that differ from their review or user, as they should be, and
   * undefined for each that is right.
   */
  *corrections(): Generator<Contribution | undefined> {
    const find = this.#database.prepare('SELECT content FROM projected WHERE pk = ?');
    for (const each of this.#read('actual')) {
      const actual = this.#withTrees(each);
      const row = find.get(each.pk);
      const projected = row && (JSON.parse(`${row.content}`) as Contribution);
      const isCorrect = projected ? isSame(actual, projected) : actual.counted === null;
      yield isCorrect ? undefined : actual;
    }
    const lost = this.#database.prepare(
      'SELECT content FROM projected WHERE pk NOT IN (SELECT pk FROM actual)',
    );
    for (const { content } of lost.iterate()) {
      const projected = JSON.parse(`${content}`) as Contribution;
      if (projected.counted !== null) yield removed(projected);
    }
  }

  /** Yields the items of all totals and nodes, as counted. */
  *items(): Generator<Item> {
    for (const { key, by } of this.#counted.items()) yield { ...key, ...by };
  }

  /** Yields the keys of stored totals and nodes in which nothing counts, in the order of keys. */
  *obsolete(): Generator<Key> {
    const rows = this.#database.prepare(
      'SELECT DISTINCT pk, sk FROM stored EXCEPT SELECT DISTINCT pk, sk FROM counted ORDER BY pk, sk',
    );
    for (const { pk, sk } of rows.iterate()) yield { pk: `${pk}`, sk: `${sk}` };
  }

  /** Yields the keys of deferred counts. */
  *deferred(): Generator<Key> {
    const rows = this.#database.prepare('SELECT sk FROM deferred');
    for (const { sk } of rows.iterate()) yield { ...deferredKey(''), sk: `${sk}` };
  }

  /** Yields the counters that are stored with another number than counted. */
  *differences(): Generator<CounterDifference> {
    const rows = this.#database.prepare(`
      SELECT pk, sk, attribute, sum(stored) AS stored, sum(counted) AS counted FROM (
        SELECT pk, sk, attribute, number AS stored, 0 AS counted FROM stored
        UNION ALL SELECT pk, sk, attribute, 0, number FROM counted
      ) GROUP BY pk, sk, attribute HAVING sum(stored) <> sum(counted)`);
    for (const { pk, sk, attribute, stored, counted } of rows.iterate()) {
      yield {
        pk: `${pk}`,
        sk: `${sk}`,
        attribute: `${attribute}`,
        stored: Number(stored),
        counted: Number(counted),
      };
    }
    yield* this.#differencesOfSums();
  }

  /** Yields what the sums have otherwise than counted. A table of older code has no sums. */
  *#differencesOfSums(): Generator<CounterDifference> {
    if (!this.#sums) return;
    const find = this.#database.prepare(
      'SELECT number FROM counted WHERE pk = ? AND sk = ? AND attribute = ?',
    );
    for (const type of entityTypes) {
      const { pk, sk } = totalKey(type);
      for (const letter of totalNames([])) {
        const stored = this.#sums[type]?.[letter] ?? 0;
        const counted = Number(find.get(pk, sk, letter)?.number ?? 0);
        if (stored !== counted)
          yield { ...sumsKey, attribute: `${type} ${letter}`, stored, counted };
      }
    }
  }

  /** Yields the keys of the items that mark the trees of long lists. */
  *owners(): Generator<Key> {
    const rows = this.#database.prepare('SELECT pk FROM owner WHERE has_trees = 1');
    for (const { pk } of rows.iterate()) yield ownerKey(`${pk}`);
  }

  /** Returns the numbers of public reviews and of accounts. */
  numbers(): { reviews: number; users: number } {
    const count = (condition: string) =>
      Number(
        this.#database
          .prepare(`SELECT count(*) AS number FROM actual WHERE content ->> 'counted' ${condition}`)
          .get()?.number,
      );
    return { reviews: count("<> 'USER'"), users: count("= 'USER'") };
  }

  close(): void {
    this.#database.close();
  }

  #withTrees(each: Contribution): Contribution {
    const hasTrees = (owner: string) => this.#hasTrees.get(owner)?.has_trees === 1;
    return { ...each, owners: each.owners.filter(hasTrees) };
  }

  *#read(table: 'actual' | 'projected'): Generator<Contribution> {
    const rows = this.#database.prepare(`SELECT content FROM ${table} ORDER BY pk`);
    for (const { content } of rows.iterate()) yield JSON.parse(`${content}`);
  }
}
