import { isDeepStrictEqual } from 'node:util';
import { isMetered, use } from '../budget.ts';
import { type IndexName, type Order, sortKeyOf, tableDefinition } from '../definition.ts';
import type { Item, Key, SortKey } from '../item.ts';
import { checkItem } from '../rules.ts';
import { sizeOf } from '../size.ts';
import type { Page, PlainWrite, Query, ReadOptions, Storage } from '../storage.ts';
import { type Condition, keyOf, type Update, type Write } from '../write.ts';
import { ChangeLog } from './change-log.ts';
import { type Connection, type Durability, openConnection } from './connection.ts';
import { meets, updated } from './evaluate.ts';
import {
  columnsOfItem,
  columnValues,
  itemOf,
  mostKeys,
  rankAttribute,
  rankOf,
  rankText,
  type Stored,
  selectOf,
  sortColumn,
  storedOf,
} from './rows.ts';

/** A page of DynamoDB ends when it has so many bytes. */
const largestPage = 1024 * 1024;

/** An item as it is stored, and parsed. */
interface Parsed extends Stored {
  item: Item;
}

interface Existing extends Parsed {
  id: number;
  size: number;
}

/** Returns true for a change that a consumer processes. Others leave no record. */
type IsRecorded = (change: { before?: Item | undefined; after?: Item | undefined }) => boolean;

/** The table in a file of SQLite, in this process. */
export class SqliteStorage implements Storage {
  readonly changes: ChangeLog;
  #isRecording = true;
  readonly #connection: Connection;
  readonly #isRecorded: IsRecorded;

  /** Opens the table in a file, or in memory as `:memory:`, and creates it if there is none. */
  constructor(
    file: string,
    {
      durability = 'synced',
      isRecorded = () => true,
    }: { durability?: Durability; isRecorded?: IsRecorded } = {},
  ) {
    this.#connection = openConnection(file, durability);
    this.#isRecorded = isRecorded;
    this.changes = new ChangeLog(this.#connection);
  }

  get(keys: readonly Key[], options: ReadOptions): Promise<(Item | undefined)[]> {
    return this.#connection.read(() => {
      const found = this.#findAll(keys);
      const sizes = found.map((each) => each?.size ?? 0);
      const items = found.map((each) => each && only(each.item, options));
      const commands = Math.ceil(keys.length / 100);
      count({ commands, units: sum(sizes.map(unitsOf)), bytes: sum(sizes), items }, options);
      return items;
    });
  }

  query(query: Query): Promise<Page> {
    const { index } = query;
    return this.#connection.read(() =>
      index === undefined ? this.#queryTable(query) : this.#queryIndex(index, query),
    );
  }

  /** The position after a page is a key alone, which callers write into files. */
  async scan(after: Key | undefined, limit: number): Promise<Page> {
    const rows = this.#connection.prepare(
      'SELECT json, rank, size FROM item WHERE (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ?',
    );
    const { items, next } = await this.#connection.read(() =>
      pageOf(rows.iterate(after?.pk ?? '', after?.sk ?? '', limit), { limit, consistent: true }),
    );
    return { items, next: next && { pk: next.pk, sk: next.sk } };
  }

  transact(writes: readonly Write[]): Promise<Write[]> {
    return this.#write(() => {
      const found = this.#findAll(writes.map(keyOf));
      const failures = writes.filter((write, i) => !meets(conditionOf(write), found[i]?.item));
      if (failures.length > 0) return failures;
      for (const [i, write] of writes.entries()) this.#apply(write, found[i]);
      return [];
    });
  }

  update(update: Update): Promise<Partial<Item> | undefined> {
    return this.#write(() => {
      const existing = this.#find(update.Key);
      if (!meets(update, existing?.item)) return undefined;
      this.#put(existing, updated(existing?.item, update));
      return existing?.item ?? {};
    });
  }

  async write(writes: readonly PlainWrite[]): Promise<void> {
    await this.#write(() => {
      for (const write of writes) {
        if ('put' in write) this.#put(this.#find(write.put as Item), write.put as Item);
        else this.#delete(this.#find(write.delete));
      }
    });
  }

  /** Returns keys of items whose time has come by `now` (epoch seconds), the earliest first. */
  expired(now: number, most: number): Promise<Key[]> {
    const keys = this.#connection.prepare(
      'SELECT pk, sk FROM item WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
    );
    return this.#connection.read(() => keys.all(now, most) as unknown as Key[]);
  }

  /**
   * Runs `work`, whose writes leave no records of changes, and are committed together. Those of the
   * last moment are lost with this process.
   */
  async inBulk<T>(work: () => Promise<T>): Promise<T> {
    this.#isRecording = false;
    try {
      return await this.#connection.inBulk(work);
    } finally {
      this.#isRecording = true;
    }
  }

  /** Records a change that was made elsewhere. */
  async addChange(before: Item | undefined, after: Item | undefined): Promise<void> {
    const old = before && parsed(before);
    const current = after && parsed(after);
    await this.#connection.write(() => this.#record(old, current));
  }

  /** Changes with each commit, also of another process. */
  version(): string {
    return this.#connection.version();
  }

  /** Calls `listener` after each commit of this process. */
  onCommit(listener: () => void): void {
    this.#connection.onCommit(listener);
  }

  close(): void {
    this.#connection.close();
  }

  #find(key: Key): Existing | undefined {
    return this.#findAll([key])[0];
  }

  /** Finds items in the order of their keys. One statement takes half the time of one for each. */
  #findAll(keys: readonly Key[]): (Existing | undefined)[] {
    const found: (Existing | undefined)[] = keys.map(() => undefined);
    for (let start = 0; start < keys.length; start += mostKeys) {
      const some = keys.slice(start, start + mostKeys);
      const rows = this.#connection.prepare(selectOf(some.length));
      for (const row of rows.all(...some.flatMap(({ pk, sk }) => [pk, sk]))) {
        const { number, ...stored } = row as unknown as Omit<Existing, 'item'> & { number: number };
        found[start + number] = { ...stored, item: itemOf(stored) };
      }
    }
    return found;
  }

  #write<T>(run: () => T): Promise<T> {
    use({ commands: 1 });
    return this.#connection.write(run);
  }

  #apply(write: Write, existing: Existing | undefined): void {
    if ('Put' in write) this.#put(existing, write.Put.Item as Item);
    else if ('Update' in write) this.#put(existing, updated(existing?.item, write.Update));
    else if ('Delete' in write) this.#delete(existing);
  }

  #put(existing: Existing | undefined, item: Item): void {
    const stored = storedOf(item);
    // As on AWS, a write that changes nothing leaves no record.
    if (existing && isSame(existing, stored)) return;
    const size = checkItem(item);
    const copied = columnValues(item);
    const before = existing?.item;
    if (existing && before && isDeepStrictEqual(columnValues(before), copied)) {
      // A column that is not named leaves its indexes alone.
      this.#connection
        .prepare('UPDATE item SET json = ?, size = ? WHERE id = ?')
        .run(stored.json, size, existing.id);
    } else if (existing) {
      this.#connection
        .prepare(`UPDATE item SET ${columnsOfItem.map((name) => `${name} = ?`)} WHERE id = ?`)
        .run(stored.json, size, ...copied, existing.id);
    } else {
      this.#connection
        .prepare(
          `INSERT INTO item (pk, sk, ${columnsOfItem}) VALUES (${'?, '.repeat(columnsOfItem.length + 1)}?)`,
        )
        .run(item.pk, item.sk, stored.json, size, ...copied);
    }
    this.#record(existing, { item, ...stored });
  }

  #delete(existing: Existing | undefined): void {
    if (!existing) return;
    this.#connection.prepare('DELETE FROM item WHERE id = ?').run(existing.id);
    this.#record(existing, undefined);
  }

  #record(before: Parsed | undefined, after: Parsed | undefined): void {
    const item = after?.item ?? before?.item;
    if (!this.#isRecording || !item) return;
    if (!this.#isRecorded({ before: before?.item, after: after?.item })) return;
    this.changes.add(item, before, after);
  }

  #queryTable(query: Query): Page {
    const { sql, values } = boundsOf('sk', query, query.after && ['sk', [query.after.sk]]);
    const rows = this.#connection.prepare(
      `SELECT json, rank, size FROM item WHERE pk = ? ${sql} LIMIT ?`,
    );
    return pageOf(rows.iterate(query.partition, ...values, query.limit), query);
  }

  #queryIndex(index: IndexName, query: Query): Page {
    const [scope = '', order] = index.split('-by-') as [string, Order];
    const sort = sortColumn(order);
    const { after, partition, limit } = query;
    const position = after && [textOf(after[sortKeyOf(order)] as SortKey), after.pk, after.sk];
    const { sql, values } = boundsOf(sort, query, position && [`${sort}, pk, sk`, position]);
    const rows = this.#connection.prepare(
      `SELECT pk, sk, ${sort}, ${projectionOf(index)} FROM item INDEXED BY "${index}"
       WHERE "${scope}" = ? AND ${sort} IS NOT NULL ${sql} LIMIT ?`,
    );
    const items = rows.all(partition, ...values, limit).map((row) => {
      const entry: Record<string, unknown> = { [scope]: partition };
      for (const [name, value] of Object.entries(row)) {
        if (name === 'rank') entry[rankAttribute] = rankOf(`${value}`);
        else if (value !== null) entry[name] = value;
      }
      return entry as Item;
    });
    const bytes = sum(items.map(sizeOf));
    count({ commands: 1, units: unitsOf(bytes), bytes, items }, query);
    return { items, next: items.length < limit ? undefined : items.at(-1) };
  }
}

const parsed = (item: Item): Parsed => ({ item, ...storedOf(item) });

const projectionOf = (index: IndexName) =>
  tableDefinition.indexes.find(({ name }) => name === index)?.projection.map((name) => `"${name}"`);

function isSame(existing: Existing, { json, rank }: Stored): boolean {
  if (existing.rank !== rank || existing.json.length !== json.length) return false;
  // The same attributes may come in another order.
  return existing.json === json || isDeepStrictEqual(existing.item, itemOf({ json, rank }));
}

function conditionOf({ otherwise: _, ...write }: Write): Condition {
  return Object.values(write)[0] as Condition;
}

/** A bound of an index is stored as text. */
const textOf = (key: SortKey) => (typeof key === 'string' ? key : rankText(key));

/** Returns the conditions and the order of a page. `after` are columns and their last values. */
function boundsOf(
  column: string,
  { range: { low, high }, descending }: Query,
  after: [columns: string, values: string[]] | undefined,
) {
  const conditions: string[] = [];
  const values: string[] = [];
  if (low !== undefined) {
    conditions.push(`AND ${column} >= ?`);
    values.push(textOf(low));
  }
  if (high !== undefined) {
    conditions.push(`AND ${column} <= ?`);
    values.push(textOf(high));
  }
  if (after) {
    const [columns, last] = after;
    conditions.push(`AND (${columns}) ${descending ? '<' : '>'} (${last.map(() => '?')})`);
    values.push(...last);
  }
  const direction = descending ? 'DESC' : 'ASC';
  // Entries with equal sort keys have no order on AWS. Here they come by their keys.
  const columns = column === 'sk' ? [column] : [column, 'pk', 'sk'];
  const order = columns.map((name) => `${name} ${direction}`);
  return { sql: `${conditions.join(' ')} ORDER BY ${order}`, values };
}

/** Returns the items of rows, at most `limit` and 1 MB. */
function pageOf(
  rows: Iterable<unknown>,
  { limit, ...options }: ReadOptions & { limit: number },
): Page {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows as Iterable<Stored & { size: number }>) {
    items.push(itemOf(row));
    bytes += row.size;
    if (bytes >= largestPage) break;
  }
  const isLast = bytes < largestPage && items.length < limit;
  const read = items.map((item) => only(item, options));
  count({ commands: 1, units: unitsOf(bytes), bytes, items: read }, options);
  return { items: read, next: isLast ? undefined : items.at(-1) };
}

function only(item: Item, { attributes }: ReadOptions): Item {
  if (!attributes) return item;
  const wanted = attributes.flatMap((name) =>
    item[name] === undefined ? [] : [[name, item[name]] as const],
  );
  return Object.fromEntries(wanted) as Item;
}

/** Read units of a strongly consistent read of so many bytes. */
const unitsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / 4096));

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Counts what a read has used: `bytes` of the items before the choice of attributes. */
function count(
  read: { commands: number; units: number; bytes: number; items: readonly (Item | undefined)[] },
  { consistent = false, attributes }: ReadOptions,
): void {
  if (!isMetered()) return;
  const { commands, units, items } = read;
  const bytes = attributes ? sum(items.map((item) => (item ? sizeOf(item) : 0))) : read.bytes;
  use({ commands, read: consistent ? units : units / 2, bytes });
}
