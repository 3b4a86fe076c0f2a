import { isDeepStrictEqual } from 'node:util';
import type { Item } from '../item.ts';
import type { Condition, Test, Update } from '../write.ts';
import { asStored } from './rows.ts';

// Conditions and changes, as DynamoDB evaluates them.

/** Returns true if the item, or its absence, meets the condition. */
export function meets({ was = {}, where = [] }: Condition, item: Item | undefined): boolean {
  const isUnchanged = Object.entries(was).every(([name, value]) => isEqual(value, item?.[name]));
  return isUnchanged && where.every((test) => holds(test, item));
}

function isEqual(value: unknown, stored: unknown): boolean {
  if (value === undefined || stored === undefined) return value === stored;
  if (isNumber(value) && isNumber(stored)) return compare(value, stored) === 0;
  return isDeepStrictEqual(asStored(value), stored);
}

function holds(test: Test, item: Item | undefined): boolean {
  if ('any' in test) return test.any.some((where) => where.every((each) => holds(each, item)));
  const [attribute, is, value] = test;
  const stored = item?.[attribute];
  if (is === 'present') return stored !== undefined;
  if (is === 'absent') return stored === undefined;
  if (is === 'text') return typeof stored === 'string';
  if (is === '=') return stored !== undefined && isEqual(value, stored);
  const order = compare(stored, value);
  if (order === undefined) return false;
  if (is === '<') return order < 0;
  if (is === '<=') return order <= 0;
  return is === '>' ? order > 0 : order >= 0;
}

/** Compares two texts by their UTF-8 bytes, or two numbers. Other values have no order. */
function compare(a: unknown, b: unknown): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a === b) return 0;
  return a < b ? -1 : Number(a > b);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Returns the item after an update. All parts of an update see the item as it was. */
export function updated(before: Item | undefined, update: Update): Item {
  const { Key, set = {}, begin = {}, amounts = {}, isOwner } = update;
  const item: Item = { pk: Key.pk, sk: Key.sk, ...before };
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined) delete item[name];
    else item[name] = asStored(value);
  }
  // A null is a value.
  const valueOr = (name: string, first: unknown) =>
    before?.[name] === undefined ? first : before[name];
  for (const [name, value] of Object.entries(begin)) item[name] = valueOr(name, asStored(value));
  for (const [name, by] of Object.entries(amounts)) item[name] = added(valueOr(name, 0), by);
  if (isOwner) item.version = added(valueOr('version', Date.now()), 1);
  return item;
}

/** Adds whole numbers. DynamoDB adds decimals exactly, which JavaScript does not. */
function added(number: unknown, by: number | bigint): number | bigint {
  if (!isNumber(number)) throw new TypeError('An amount is added to a value that is no number');
  if (typeof number === 'bigint' || typeof by === 'bigint') return BigInt(number) + BigInt(by);
  const sum = number + by;
  if (!Number.isSafeInteger(sum)) throw new TypeError(`${number} + ${by} is no whole number`);
  return sum;
}
