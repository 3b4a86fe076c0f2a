import { type Order, sortKeyOf, tableDefinition } from './definition.ts';
import { conditional, updateInput } from './expressions.ts';
import { type Item, type Key, keyString } from './item.ts';
import { sizeOf } from './size.ts';
import type { PlainWrite, Query } from './storage.ts';
import {
  type Change,
  type Condition,
  keyOf,
  maxActions,
  type Update,
  type Write,
} from './write.ts';

// What DynamoDB refuses by its documentation, refused here before it is sent. So every storage
// refuses it, and every test sees it.

/** Thrown instead of sending a request that DynamoDB refuses. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
}

/** Each rule, and its source in the Developer Guide or the API Reference of DynamoDB. */
const rules = {
  key: [
    'a partition key has 1 to 2,048 bytes, and a sort key 1 to 1,024',
    'Constraints, "Partition keys and sort keys"; an empty value also in PutItem, "Item"',
  ],
  keyType: [
    'the key of an index has the type of its definition, and is not empty',
    'PutItem, "Item"; Using Global Secondary Indexes, "Attribute types"',
  ],
  range: ['the lower bound of a range is not above the upper one', 'Comparison operators, BETWEEN'],
  limit: ['a page has at least one item', 'Query, "Limit"'],
  duplicate: [
    'a request names an item once',
    'TransactWriteItems; BatchGetItem; BatchWriteItem, "ValidationException"',
  ],
  actions: ['a transaction has 1 to 100 actions', 'TransactWriteItems, "TransactItems"'],
  transactionSize: ['a transaction has at most 4 MB', 'TransactWriteItems'],
  itemSize: ['an item has at most 400 KB', 'Constraints, "Item size"'],
  nothing: ['an update changes something', 'UpdateItem, "UpdateExpression"'],
  keyUpdate: ['an update does not change a key', 'UpdateItem, "UpdateExpression"'],
  overlap: ['an update names an attribute once', 'Update expressions, "Overlapping paths"'],
} as const satisfies Record<string, readonly [rule: string, source: string]>;

const mostBytes = { pk: 2048, sk: 1024, item: 400 * 1024, transaction: 4 * 1024 * 1024 };

function refuse(name: keyof typeof rules, subject: string): never {
  const [rule, source] = rules[name];
  throw new RefusedRequest(`${subject}: ${rule} (${source})`);
}

/** Checks a key. Throws `RefusedRequest`, as all checks here. */
export function checkKey({ pk, sk }: Key): void {
  checkKeyPart('pk', pk);
  checkKeyPart('sk', sk);
}

function checkKeyPart(name: 'pk' | 'sk', value: unknown): void {
  const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
  if (bytes === 0 || bytes > mostBytes[name])
    refuse('key', `${name} ${String(value).slice(0, 40)}`);
}

/** Checks the keys of one batch or transaction. */
export function checkKeys(keys: readonly Key[]): void {
  for (const key of keys) checkKey(key);
  if (new Set(keys.map(keyString)).size < keys.length) refuse('duplicate', 'keys');
}

/** Checks the partition, the bounds and the limit of a query. */
export function checkQuery({ index, partition, range: { low, high }, limit }: Query): void {
  checkKeyPart('pk', partition);
  const order = index?.split('-by-')[1] as Order | undefined;
  const type = order === 'popularity' ? 'bigint' : 'string';
  const name = `${index ?? 'sk'} of ${partition}`;
  for (const bound of [low, high]) {
    if (bound === undefined) continue;
    if (typeof bound !== type) refuse('keyType', name);
    if (typeof bound === 'string') checkKeyPart('sk', bound);
  }
  if (low !== undefined && high !== undefined && isAbove(low, high)) refuse('range', name);
  if (!(limit >= 1)) refuse('limit', name);
}

function isAbove(low: string | bigint, high: string | bigint): boolean {
  if (typeof low === 'bigint' || typeof high === 'bigint') return low > high;
  return Buffer.compare(Buffer.from(low), Buffer.from(high)) > 0;
}

/** Checks the actions of a transaction. Throws `ExpressionTooLong` as well, as `checkUpdate`. */
export function checkTransaction(writes: readonly Write[]): void {
  if (writes.length < 1 || writes.length > maxActions)
    refuse('actions', `${writes.length} actions`);
  checkKeys(writes.map(keyOf));
  let bytes = 0;
  for (const write of writes) {
    if ('Update' in write) {
      bytes += checkUpdate(write.Update);
      continue;
    }
    const { otherwise: _, ...action } = write;
    for (const condition of Object.values(action) as Condition[]) {
      if (isLong(condition)) conditional(condition);
    }
    if ('Put' in write) bytes += checkItem(write.Put.Item);
  }
  if (bytes > mostBytes.transaction) refuse('transactionSize', `${bytes} bytes`);
}

/** Checks puts and deletions without conditions. */
export function checkWrites(writes: readonly PlainWrite[]): void {
  checkKeys(writes.map((write) => ('put' in write ? (write.put as Item) : write.delete)));
  for (const write of writes) if ('put' in write) checkItem(write.put);
}

/** Checks an item, and returns its bytes. */
export function checkItem(item: object): number {
  const bytes = sizeOf(item);
  if (bytes > mostBytes.item) refuse('itemSize', `${bytes} bytes`);
  checkIndexKeys(item as Record<string, unknown>);
  return bytes;
}

/** Checks an update, and returns the bytes of what it sets. */
export function checkUpdate(update: Update): number {
  const { Key, set = {}, begin = {}, amounts = {}, isOwner } = update;
  checkKey(Key);
  const names = [set, begin, amounts].flatMap(Object.keys);
  if (isOwner) names.push('version');
  const subject = `update of ${Key.pk}`;
  if (names.length === 0) refuse('nothing', subject);
  if (names.includes('pk') || names.includes('sk')) refuse('keyUpdate', subject);
  if (new Set(names).size < names.length) refuse('overlap', subject);
  checkIndexKeys(set);
  checkIndexKeys(begin);
  const bytes = sizeOf(set) + sizeOf(begin) + sizeOf(amounts);
  if (bytes > mostBytes.item) refuse('itemSize', `${bytes} bytes`);
  if (isLong(update)) updateInput(update);
  return bytes;
}

/** Is true for what may exceed the 4 KB of an expression: an attribute takes at most 42 bytes. */
function isLong({ was, where = [], set, begin, amounts }: Condition & Change): boolean {
  const names = [was, set, begin, amounts].flatMap((part) => Object.keys(part ?? {}));
  return names.length + 2 * where.length > 90;
}

const indexKeys = Object.entries(tableDefinition.attributeTypes).filter(
  ([name]) => name !== 'pk' && name !== 'sk',
);

function checkIndexKeys(attributes: Readonly<Record<string, unknown>>): void {
  for (const [name, type] of indexKeys) {
    const value = attributes[name];
    if (value === undefined) continue;
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    if (type === 'N' ? !isNumber : typeof value !== 'string') refuse('keyType', name);
    if (typeof value !== 'string') continue;
    checkKeyPart(name === sortKeyOf('date') ? 'sk' : 'pk', value);
  }
}
