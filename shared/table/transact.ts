import { randomUUID } from 'node:crypto';
import {
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type ApiError, serviceUnavailable } from '../errors.ts';
import { backOff } from '../time.ts';
import { table, tableName } from './client.ts';
import type { Key } from './item.ts';

/** A condition on an item, and what it names; with `was` both must hold. */
export interface Condition {
  /** Attributes that are as they say, or absent where undefined. */
  was?: Readonly<Record<string, unknown>>;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * A change of some attributes of one item; attributes and item come into being as needed. Several
 * changes with `amounts` of one item can be summed (merge.ts).
 */
export interface Change extends Condition {
  Key: Key;
  /** Numbers to add to attributes. */
  amounts?: Readonly<Record<string, number | bigint>>;
  /** Attributes to set, or to remove where undefined. */
  set?: Readonly<Record<string, unknown>>;
  /**
   * The item is an author or entity: its `version` rises, so that an audit sees that something was
   * counted, even when the numbers are as before. A new item begins with the time in ms, which is
   * above every version of an erased item with the same key.
   */
  isOwner?: true;
  /** Where it is more than that. */
  UpdateExpression?: string;
}

/**
 * One action of a transaction on the table. When its condition fails the transaction throws `otherwise`; where there is none
 * the condition only guards what was read before, and the transaction throws `StaleRead`.
 */
export type Write = { otherwise?: ApiError } & (
  | { Put: Condition & { Item: object } }
  | { Update: Change }
  | { Delete: Condition & { Key: Key } }
  | { ConditionCheck: Condition & { Key: Key } }
);

/** Something that a write was based on has changed meanwhile: read it again, see `retryStale`. */
export class StaleRead extends Error {}

/** Actions that a transaction takes. */
export const maxActions = 100;

const attempts = 10;

/**
 * Milliseconds after which a transaction is given up, and after which nothing that was stale is read again. One after the other they
 * end before Lambda's 15 s, with the two that a request under way may still take; without the first a transaction that is always in
 * progress takes half a minute.
 */
const patience = { transaction: 8_000, stale: 4_000 };

/** Reasons of a cancelled transaction that say nothing about the data: the same transaction may succeed later. */
const transient = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/**
 * Writes all or nothing. Conflicts and throttling are tried again with jitter, always under the same idempotency token,
 * so a lost answer never applies twice. Throws what `Write` says, or ApiError 503 when it stays busy or takes over 8 s.
 */
export async function transact(writes: readonly Write[]): Promise<void> {
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: writes.map(({ otherwise: _, ...action }) => inTable(action)),
  });
  const deadline = performance.now() + patience.transaction;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await backOff(attempt);
    const left = deadline - performance.now();
    if (left <= 0) break;
    // The SDK makes several attempts of its own.
    const abortSignal = AbortSignal.timeout(Math.ceil(left));
    try {
      await table.send(command, { abortSignal });
      return;
    } catch (error) {
      if (abortSignal.aborted) break;
      // An attempt that was not answered in time is still at work.
      if (error instanceof TransactionInProgressException) continue;
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
      const failed = writes.filter((_, i) => reasons[i] === 'ConditionalCheckFailed');
      if (failed.length > 0) {
        throw failed.every(({ otherwise }) => otherwise) ? failed[0]?.otherwise : new StaleRead();
      }
      if (!reasons.every((code) => code === 'None' || transient.has(code))) throw error;
    }
  }
  throw serviceUnavailable();
}

/** Writes as `transact` does, once; gives whether it did, or something that a write was based on has changed. */
export async function tryTransact(writes: readonly Write[]): Promise<boolean> {
  try {
    await transact(writes);
    return true;
  } catch (error) {
    if (error instanceof StaleRead) return false;
    throw error;
  }
}

/**
 * Runs a read-then-write again, from its read on, while the write finds that the read was stale. So a failed condition
 * becomes whatever error the fresh state deserves. Throws ApiError 503 when it does not get through in 4 s.
 */
export async function retryStale<T>(readThenWrite: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patience.stale;
  for (let attempt = 0; performance.now() < deadline; attempt++) {
    // A long pause would make the next read no fresher.
    if (attempt > 0) await backOff(attempt, 80);
    try {
      return await readThenWrite();
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error;
    }
  }
  throw serviceUnavailable();
}

/** Puts an item that is not there yet. */
export function putNew(Item: object) {
  return { Put: { Item, was: { pk: undefined } } };
}

function inTable(action: object) {
  return Object.fromEntries(
    Object.entries(action).map(([kind, request]) => [
      kind,
      { TableName: tableName(), ...expressed(request) },
    ]),
  );
}

/** All by placeholders, as some names are reserved. */
function expressed({ was = {}, set = {}, amounts = {}, isOwner, ...action }: Omit<Change, 'Key'>) {
  const names = { ...action.ExpressionAttributeNames };
  const values = { ...action.ExpressionAttributeValues };
  const name = (attribute: string) => keep(names, '#at', attribute);
  const value = (of: unknown) => keep(values, ':at', of);
  const conditions = Object.entries(was).map(([attribute, before]) =>
    before === undefined
      ? `attribute_not_exists(${name(attribute)})`
      : `${name(attribute)} = ${value(before)}`,
  );
  const given = Object.entries(set);
  const clauses = {
    SET: given.flatMap(([attribute, after]) =>
      after === undefined ? [] : [`${name(attribute)} = ${value(after)}`],
    ),
    REMOVE: given.flatMap(([attribute, after]) => (after === undefined ? [name(attribute)] : [])),
    ADD: Object.entries(amounts).map(([attribute, by]) => `${name(attribute)} ${value(by)}`),
  };
  if (isOwner) {
    clauses.SET.push(`version = if_not_exists(version, ${value(Date.now())}) + ${value(1)}`);
  }
  const changes = Object.entries(clauses).filter(([, parts]) => parts.length > 0);
  // DynamoDB refuses what is empty.
  return Object.fromEntries(
    Object.entries({
      UpdateExpression: changes.map(([verb, parts]) => `${verb} ${parts.join(', ')}`).join(' '),
      ...action,
      ConditionExpression: [
        ...(action.ConditionExpression ? [`(${action.ConditionExpression})`] : []),
        ...conditions,
      ].join(' AND '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    }).filter(([, part]) => Object.keys(part).length > 0),
  );
}

function keep<T>(placeholders: Record<string, T>, prefix: string, of: T): string {
  const placeholder = `${prefix}${Object.keys(placeholders).length}`;
  placeholders[placeholder] = of;
  return placeholder;
}
