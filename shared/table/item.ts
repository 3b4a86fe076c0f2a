/** The primary key of an item. */
export interface Key {
  pk: string;
  sk: string;
}

/** Attributes of index entries of every kind; the rest depends on the index. */
export interface IndexAttributes {
  all?: string;
  facet?: string;
  entity?: string;
  author?: string;
  date?: string;
  popularity_rank?: bigint;
  /** Not a key, but in every entry: what a review has. */
  kind?: string;
}

/** An item as it lies in the table. */
export type Item = Record<string, unknown> & Key;

/** An index entry: the keys of an item and the projected attributes, about 190 bytes. */
export type Entry = Key & IndexAttributes & { user_id?: string };

/** The sort key of an index: `date` or `popularity_rank`. */
export type SortKey = string | bigint;

/** One text for a primary key, to find the items of a batch by. */
export function keyString({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}
