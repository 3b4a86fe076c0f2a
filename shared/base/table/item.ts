export interface Key {
  pk: string;
  sk: string;
}

/** Index attributes. Each index uses two of them as its keys. */
export interface IndexAttributes {
  all?: string;
  type?: string;
  facet?: string;
  entity?: string;
  author?: string;
  date?: string;
  popularity_rank?: bigint;
  /**
   * Not a key, but in every entry: content and size of a review (review.ts), or how far a webhook
   * has come.
   */
  kind?: string;
}

/** A stored item. */
export type Item = Record<string, unknown> & Key;

/** An index entry: keys and projected attributes. It takes about 190 bytes. */
export type Entry = Key & IndexAttributes & { user_id?: string };

/** Sort key of an index: `date` is a string, `popularity_rank` a bigint. */
export type SortKey = string | bigint;

/** Formats an item as JSON. A rank is a string, because it exceeds a number of JSON. */
export function toJson(item: object): string {
  return JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

/** Formats a primary key as one string, for use as a map key. */
export function keyString({ pk, sk }: Key): string {
  return `${pk}\n${sk}`;
}

/** Returns the id in a partition key: all after the first #. */
export function idIn({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice(pk.indexOf('#') + 1);
}
