import type { IndexName } from './definition.ts';
import type { Item, Key, SortKey } from './item.ts';
import type { Update, Write } from './write.ts';

// The storage of the table. By default it is DynamoDB: each function of this folder sends its own
// command, so that the bundle of a Lambda has only the commands that it uses. A server provides
// SQLite in its own process, and the same functions call that.

/** Sort keys from `low` to `high`, both included. Open where one is absent. */
export interface KeyRange {
  low?: SortKey | undefined;
  high?: SortKey | undefined;
}

/** The item after which the next page of a read begins: its keys, in an index as well. */
export type Position = Readonly<Record<string, unknown>> & Key;

export interface Page<T = Item> {
  items: T[];
  /** Undefined at the end. */
  next: Position | undefined;
}

export interface ReadOptions {
  /** Strongly consistent, for twice the units. */
  consistent?: boolean | undefined;
  /** The attributes to return, by default all. */
  attributes?: readonly string[] | undefined;
}

/** A page of one partition of the table, or of an index. */
export interface Query extends ReadOptions {
  index?: IndexName;
  partition: string;
  range: KeyRange;
  after?: Position | undefined;
  descending: boolean;
  limit: number;
}

/** A put or deletion without a condition. */
export type PlainWrite = { put: object } | { delete: Key };

/** Storage in the place of DynamoDB. It receives nothing that DynamoDB refuses (rules.ts). */
export interface Storage {
  /** Returns the items of the keys in their order, undefined where there is none. */
  get(keys: readonly Key[], options: ReadOptions): Promise<(Item | undefined)[]>;
  /** Returns a page of at most `limit` items and 1 MB. */
  query(query: Query): Promise<Page>;
  scan(after: Key | undefined, limit: number): Promise<Page>;
  /** Writes all or nothing. Returns the writes whose conditions failed. */
  transact(writes: readonly Write[]): Promise<Write[]>;
  /** Returns the item as it was, empty if it is new, or undefined if the condition failed. */
  update(update: Update): Promise<Partial<Item> | undefined>;
  write(writes: readonly PlainWrite[]): Promise<void>;
}

let provided: Storage | undefined;

/** Puts a storage in the place of DynamoDB, or DynamoDB back with undefined. */
export function provideStorage(storage: Storage | undefined): void {
  provided = storage;
}

/** Returns the provided storage, undefined for DynamoDB. */
export function storage(): Storage | undefined {
  return provided;
}
