import type { ApiError } from '../errors.ts';
import type { Item, Key } from './item.ts';

// Writes as data: conditions, changes and actions. DynamoDB receives them as expressions. SQLite
// evaluates them on the item.

/** A condition on an item before its write. Both parts must hold. */
export interface Condition {
  /** Expected values of attributes; undefined means that the attribute is absent. */
  was?: Readonly<Record<string, unknown>>;
  where?: Where;
}

/** Tests of an item, which must all hold. */
export type Where = readonly Test[];

/**
 * A test of one attribute, or several lists of tests, of which `any` must hold. A comparison with
 * an absent attribute, or with one of another type, is false.
 */
export type Test =
  | readonly [attribute: string, is: 'present' | 'absent' | 'text']
  | readonly [attribute: string, is: Comparison, value: unknown]
  | { readonly any: readonly Where[] };

type Comparison = '=' | '<' | '<=' | '>' | '>=';

/** Tests that an attribute is absent, or compares so with the value. */
export function absentOr(attribute: string, is: Comparison, value: string | number | null): Test {
  return { any: [[[attribute, 'absent']], [[attribute, is, value]]] };
}

/** A change of an item. */
export interface Change {
  /** Numbers to add to attributes. */
  amounts?: Readonly<Record<string, number | bigint>>;
  /** Attributes to set, or to remove where undefined. */
  set?: Readonly<Record<string, unknown>>;
  /** Attributes to set where they are absent. */
  begin?: Readonly<Record<string, unknown>>;
  /**
   * The item is an author or entity. Its `version` rises and shows an audit that something was
   * counted. A new item begins with the epoch ms, above every version of an erased item with the
   * same key.
   */
  isOwner?: true;
}

/**
 * An update of one item, which creates the item and attributes if they are missing. Several updates
 * of an item can be merged if they have `amounts` (merge.ts).
 */
export interface Update extends Condition, Change {
  Key: Key;
}

/**
 * One action. If its condition fails, the transaction throws `otherwise`, by default `StaleRead`:
 * the condition then only guards what was read before.
 */
export type Write = { otherwise?: ApiError } & (
  | { Put: Condition & { Item: object } }
  | { Update: Update }
  | { Delete: Condition & { Key: Key } }
  | { ConditionCheck: Condition & { Key: Key } }
);

/** Maximum of actions in a transaction. */
export const maxActions = 100;

/** Puts an item that must not exist yet. */
export function putNew(Item: object) {
  return { Put: { Item, was: { pk: undefined } } };
}

/** Returns the key of the item that is written or checked. */
export function keyOf(write: Write): Key {
  if ('Put' in write) return write.Put.Item as Item;
  if ('Update' in write) return write.Update.Key;
  return 'Delete' in write ? write.Delete.Key : write.ConditionCheck.Key;
}
