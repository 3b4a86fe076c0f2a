import { type Order, tableDefinition } from '../definition.ts';
import type { Item } from '../item.ts';

// Items as rows: JSON, with columns beside it for what an index needs.

/** A rank exceeds the numbers of JSON, so it is in a column alone. */
export const rankAttribute = 'popularity_rank';

/** Attributes that are columns as well: keys of the indexes, and what their entries have. */
const textColumns = [
  ...new Set(
    tableDefinition.indexes.flatMap(({ partitionKey, sortKey, projection }) =>
      [partitionKey, sortKey, ...projection].filter((name) => name !== rankAttribute),
    ),
  ),
];

/** Returns the column that an index is sorted by. */
export const sortColumn = (order: Order) => (order === 'date' ? 'date' : 'rank');

const columnList = textColumns.map((name) => `"${name}"`);

/** Indexes have all columns of their entries, so that a list reads nothing else. */
const indexes = tableDefinition.indexes.map(({ name, partitionKey, projection }) => {
  const sort = sortColumn(name.split('-by-')[1] as Order);
  const columns = [`"${partitionKey}"`, sort, 'pk', 'sk', ...projection.map((each) => `"${each}"`)];
  return `CREATE INDEX "${name}" ON item (${columns})
    WHERE "${partitionKey}" IS NOT NULL AND ${sort} IS NOT NULL;`;
});

/**
 * The schema. `size` is in bytes as DynamoDB counts them. `change` has the changes that consumers
 * have not yet processed.
 */
export const schema = `
  CREATE TABLE item (
    id INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, json TEXT NOT NULL,
    size INTEGER NOT NULL, expires_at INTEGER, rank TEXT, ${columnList.map((name) => `${name} TEXT`)});
  CREATE UNIQUE INDEX by_key ON item (pk, sk);
  CREATE INDEX by_expiry ON item (expires_at) WHERE expires_at IS NOT NULL;
  ${indexes.join('\n')}
  CREATE TABLE change (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, pk TEXT NOT NULL,
    sk TEXT NOT NULL, before TEXT, before_rank TEXT, after TEXT, after_rank TEXT);
  PRAGMA user_version = 1;
`;

/** The columns beside the keys, in the order of `columnValues`. */
export const columnsOfItem = ['json', 'size', 'rank', 'expires_at', ...columnList];

/** Keys of one statement. There is a statement for each number of keys. */
export const mostKeys = 50;

/** Returns the statement that finds so many keys. Each row has the number of its key, from 0. */
export function selectOf(keys: number): string {
  const values = Array.from({ length: keys }, (_, i) => `(${i}, ?, ?)`);
  return `SELECT key.column1 AS number, id, json, rank, size FROM (VALUES ${values}) AS key
    CROSS JOIN item ON pk = key.column2 AND sk = key.column3`;
}

/** An item as JSON and the text of its rank. */
export interface Stored {
  json: string;
  rank: string | null;
}

/** Parses a stored item. */
export function itemOf({ json, rank }: Stored): Item {
  const item: Item = JSON.parse(json);
  if (rank !== null) item[rankAttribute] = rankOf(rank);
  return item;
}

/** Formats an item to store it. */
export function storedOf(item: Item): Stored {
  const { [rankAttribute]: rank, ...rest } = item;
  const json = JSON.stringify(rest, withoutGaps);
  return { json, rank: rank === undefined ? null : rankText(rank as bigint) };
}

/** Returns a value as it is read again: without what is undefined, as the SDK sends it. */
export function asStored(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return JSON.parse(JSON.stringify(value, withoutGaps));
}

function withoutGaps(_: string, value: unknown): unknown {
  return Array.isArray(value) ? value.filter((part) => part !== undefined) : value;
}

/** Returns the values of the columns that copy attributes: rank, expiry, and those of indexes. */
export function columnValues(item: Item): (string | number | null)[] {
  const { [rankAttribute]: rank, expires_at: expiry } = item;
  const texts = textColumns.map((name) => item[name]);
  return [
    rank === undefined ? null : rankText(rank as bigint),
    typeof expiry === 'number' ? expiry : null,
    // What is only projected may be no text.
    ...texts.map((value) => (typeof value === 'string' ? value : null)),
  ];
}

const shift = 10n ** 38n;

/** Formats a whole number of at most 38 digits as text that sorts as the numbers do. */
export function rankText(rank: bigint | number): string {
  const number = BigInt(rank);
  const isNegative = number < 0n;
  const digits = `${isNegative ? shift + number : number}`.padStart(38, '0');
  return `${isNegative ? '-' : '0'}${digits}`;
}

/** Parses the text of a rank. */
export function rankOf(text: string): bigint {
  const digits = BigInt(text.slice(1));
  return text.startsWith('-') ? digits - shift : digits;
}
