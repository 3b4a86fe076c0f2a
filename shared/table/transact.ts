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

/** A condition and what it names; an update may name the same. */
export interface Expressions {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** An update that adds `amounts` to attributes. Several of one item can be summed (merge.ts). */
export interface Addition extends Expressions {
  Key: Key;
  amounts: Readonly<Record<string, number | bigint>>;
  /** Attributes to set beside. */
  set?: Readonly<Record<string, unknown>>;
  /**
   * The item is an author or entity: its `version` rises, so that an audit sees that something was
   * counted, even when the numbers are as before. A new item begins with the time in ms, which is
   * above every version of an erased item with the same key.
   */
  isOwner?: true;
}

/**
 * One action of a transaction on the table. When its condition fails the transaction throws `otherwise`; where there is none
 * the condition only guards what was read before, and the transaction throws `StaleRead`.
 */
export type Write = { otherwise?: ApiError } & (
  | { Put: Expressions & { Item: object } }
  | { Update: (Expressions & { Key: Key; UpdateExpression: string }) | Addition }
  | { Delete: Expressions & { Key: Key } }
  | { ConditionCheck: Expressions & { Key: Key; ConditionExpression: string } }
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

/**
 * Adds numbers to attributes of one item, on a condition if there is one; attributes and item come
 * into being as needed.
 */
export function add(
  key: Key,
  amounts: Readonly<Record<string, number | bigint>>,
  condition: Expressions = {},
): Addition {
  return { Key: key, amounts, ...condition };
}

/** Adds to the counts of an author or entity, see `Addition`. */
export function addCounts(...[key, amounts, condition]: Parameters<typeof add>): Addition {
  return { ...add(key, amounts, condition), isOwner: true };
}

/** Sets attributes of an item, and removes those that are undefined, on condition that what `was` names is as it says. */
export function assign(
  key: Key,
  values: Readonly<Record<string, unknown>>,
  was: Readonly<Record<string, unknown>>,
) {
  const ExpressionAttributeNames: Record<string, string> = {};
  const ExpressionAttributeValues: Record<string, unknown> = {};
  const set: string[] = [];
  const removed: string[] = [];
  for (const [i, [name, value]] of Object.entries(values).entries()) {
    ExpressionAttributeNames[`#new${i}`] = name;
    if (value === undefined) removed.push(`#new${i}`);
    else {
      set.push(`#new${i} = :new${i}`);
      ExpressionAttributeValues[`:new${i}`] = value;
    }
  }
  const conditions = Object.entries(was).map(([name, value], i) => {
    ExpressionAttributeNames[`#was${i}`] = name;
    if (value === undefined) return `attribute_not_exists(#was${i})`;
    ExpressionAttributeValues[`:was${i}`] = value;
    return `#was${i} = :was${i}`;
  });
  return {
    Key: key,
    UpdateExpression: [
      set.length > 0 ? `SET ${set.join(', ')}` : '',
      removed.length > 0 ? `REMOVE ${removed.join(', ')}` : '',
    ].join(' '),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames,
    ExpressionAttributeValues,
  };
}

function inTable(action: object) {
  return Object.fromEntries(
    Object.entries(action).map(([kind, request]) => [
      kind,
      { TableName: tableName(), ...('amounts' in request ? expressed(request) : request) },
    ]),
  );
}

function expressed({ amounts, set = {}, isOwner, ...update }: Addition) {
  const added = Object.entries(amounts);
  const given = Object.entries(set);
  const settings = given.map((_, i) => `#set${i} = :set${i}`);
  if (isOwner) settings.push('version = if_not_exists(version, :begun) + :one');
  const additions = added.map((_, i) => `#add${i} :add${i}`).join(', ');
  return {
    ...update,
    UpdateExpression: `ADD ${additions}${settings.length > 0 ? ` SET ${settings.join(', ')}` : ''}`,
    ExpressionAttributeNames: {
      ...update.ExpressionAttributeNames,
      ...Object.fromEntries(added.map(([name], i) => [`#add${i}`, name])),
      ...Object.fromEntries(given.map(([name], i) => [`#set${i}`, name])),
    },
    ExpressionAttributeValues: {
      ...update.ExpressionAttributeValues,
      ...Object.fromEntries(added.map(([, by], i) => [`:add${i}`, by])),
      ...Object.fromEntries(given.map(([, value], i) => [`:set${i}`, value])),
      ...(isOwner && { ':begun': Date.now(), ':one': 1 }),
    },
  };
}
