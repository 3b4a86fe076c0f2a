import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ApiError, serviceUnavailable, TableBusy } from '../errors.ts';
import { countMetric } from '../metric.ts';
import { backOff } from '../time.ts';
import { table, tableName } from './client.ts';
import type { Key } from './item.ts';

/** A condition on an item. Both `was` and `ConditionExpression` must hold. */
export interface Condition {
  /** Expected values of attributes; undefined means that the attribute is absent. */
  was?: Readonly<Record<string, unknown>>;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/**
 * An update of one item, which creates the item and attributes if they are missing. Several updates
 * of an item can be merged if they have `amounts` (merge.ts).
 */
export interface Update extends Condition {
  Key: Key;
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
  /** Replaces `set` and `amounts` where an update needs more. */
  UpdateExpression?: string;
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

/** Thrown when data has changed since the write's read. `retryStale` reads and writes again. */
export class StaleRead extends Error {}

/** Thrown instead of sending an expression that DynamoDB refuses. The guides tell what to do. */
export class ExpressionTooLong extends Error {
  override readonly name = 'ExpressionTooLong';
}

/** Maximum of bytes of an expression. */
const maxExpressionBytes = 4096;

/** Maximum of actions in a transaction. */
export const maxActions = 100;

const attempts = 10;

/**
 * Milliseconds until `transact` and `retryStale` give up. Both together, and 2 s for a request
 * under way, end before Lambda's 15 s. A transaction that stays in progress would take half a
 * minute.
 */
const timeouts = { transaction: 8_000, stale: 4_000 };

/** Reasons of a cancelled transaction that do not depend on the data. */
const transient = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/**
 * Writes all or nothing. Retries conflicts and throttling with jitter and one idempotency token, so
 * a lost answer never applies twice. Throws `otherwise` or `StaleRead` as `Write` says, and
 * `ExpressionTooLong` before anything is sent. After 10 attempts or 8 s it throws ApiError 503 if
 * others wrote the same items, which a client can cause, and otherwise `TableBusy`.
 * @example
 *   await transact([
 *     putNew({ ...voteKey(reviewId, userId), ...vote }),
 *     { Update: { Key: reviewKey(reviewId), amounts: { votes_positive: 1, version: 1 } } },
 *     { ConditionCheck: { Key: userKey(userId), ConditionExpression: whereAlive } },
 *   ]);
 */
export async function transact(writes: readonly Write[]): Promise<void> {
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: writes.map(({ otherwise: _, ...action }) => inTable(action)),
  });
  const deadline = performance.now() + timeouts.transaction;
  let isContended = false;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await backOff(attempt);
    const left = deadline - performance.now();
    if (left <= 0) break;
    if (attempt > 0) countMetric('Retries', 1);
    // The SDK also retries. The signal ends its attempts too.
    const abortSignal = AbortSignal.timeout(Math.ceil(left));
    try {
      await table.send(command, { abortSignal });
      return;
    } catch (error) {
      if (abortSignal.aborted) break;
      // An earlier attempt without an answer is still in progress.
      if (error instanceof TransactionInProgressException) continue;
      if (!(error instanceof TransactionCanceledException)) throw error;
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
      const failures = writes.filter((_, i) => codes[i] === 'ConditionalCheckFailed');
      if (failures.length > 0) throw errorOf(failures);
      if (!codes.every((code) => code === 'None' || transient.has(code))) throw error;
      isContended ||= codes.includes('TransactionConflict');
    }
  }
  throw isContended ? serviceUnavailable() : new TableBusy();
}

/** Returns the error of failed conditions. A stale read comes first: a new read may pass them. */
function errorOf(failures: readonly Write[]): Error | undefined {
  const isStale = failures.some(({ otherwise }) => otherwise === undefined);
  return isStale ? new StaleRead() : failures[0]?.otherwise;
}

/** Writes as `transact` does. Returns false where `transact` throws `StaleRead`. */
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
 * Updates one item, for half of what a transaction costs. Returns false if its condition fails,
 * which may also be because the answer to a first attempt was lost.
 */
export async function tryUpdate({ Key, ...update }: Update): Promise<boolean> {
  try {
    const command = { TableName: tableName(), Key, ...withExpressions(update) };
    await table.send(new UpdateCommand(command));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/**
 * Runs a read-then-write, again whenever the write throws `StaleRead`: the new read decides the
 * outcome. Throws ApiError 503 after 4 s.
 * @example
 *   await retryStale(async () => {
 *     const before = await getItem(key);
 *     await transact([{ Update: { Key: key, set, was: { version: before?.version } } }]);
 *   });
 */
export async function retryStale<T>(readThenWrite: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + timeouts.stale;
  for (let attempt = 0; performance.now() < deadline; attempt++) {
    // Longer pauses would not help: the next read is fresh in any case.
    if (attempt > 0) {
      await backOff(attempt, 80);
      countMetric('Retries', 1);
    }
    try {
      return await readThenWrite();
    } catch (error) {
      if (!(error instanceof StaleRead)) throw error;
    }
  }
  throw serviceUnavailable();
}

/** Puts an item that must not exist yet. */
export function putNew(Item: object) {
  return { Put: { Item, was: { pk: undefined } } };
}

function inTable(action: object) {
  const TableName = tableName();
  return Object.fromEntries(
    Object.entries(action).map(([verb, parameters]) => [
      verb,
      { TableName, ...withExpressions(parameters) },
    ]),
  );
}

/** Builds the expressions. Uses placeholders for all names, because DynamoDB reserves some. */
function withExpressions(parameters: Omit<Update, 'Key'>) {
  const { was = {}, set = {}, begin = {}, amounts = {}, isOwner, ...action } = parameters;
  const names = { ...action.ExpressionAttributeNames };
  const values = { ...action.ExpressionAttributeValues };
  const name = (attribute: string) => placeholder(names, '#at', attribute);
  const value = (content: unknown) => placeholder(values, ':at', content);
  const conditions = Object.entries(was).map(([attribute, before]) =>
    before === undefined
      ? `attribute_not_exists(${name(attribute)})`
      : `${name(attribute)} = ${value(before)}`,
  );
  const settings = Object.entries(set);
  const clauses = {
    SET: settings.flatMap(([attribute, after]) =>
      after === undefined ? [] : [`${name(attribute)} = ${value(after)}`],
    ),
    REMOVE: settings.flatMap(([attribute, after]) =>
      after === undefined ? [name(attribute)] : [],
    ),
    ADD: Object.entries(amounts).map(([attribute, by]) => `${name(attribute)} ${value(by)}`),
  };
  for (const [attribute, first] of Object.entries(begin)) {
    const at = name(attribute);
    clauses.SET.push(`${at} = if_not_exists(${at}, ${value(first)})`);
  }
  if (isOwner) {
    clauses.SET.push(`version = if_not_exists(version, ${value(Date.now())}) + ${value(1)}`);
  }
  if (action.ConditionExpression) conditions.unshift(`(${action.ConditionExpression})`);
  const changes = Object.entries(clauses).filter(([, terms]) => terms.length > 0);
  const request = {
    UpdateExpression: changes.map(([verb, terms]) => `${verb} ${terms.join(', ')}`).join(' '),
    ...action,
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
  checkLength('UpdateExpression', request.UpdateExpression);
  checkLength('ConditionExpression', request.ConditionExpression);
  // DynamoDB rejects empty expressions and maps.
  return Object.fromEntries(
    Object.entries(request).filter(([, parameter]) => Object.keys(parameter).length > 0),
  );
}

function checkLength(name: string, expression: string): void {
  const bytes = Buffer.byteLength(expression);
  if (bytes <= maxExpressionBytes) return;
  throw new ExpressionTooLong(
    `${name} has ${bytes} bytes, and DynamoDB takes ${maxExpressionBytes}`,
  );
}

function placeholder<T>(all: Record<string, T>, prefix: string, value: T): string {
  const name = `${prefix}${Object.keys(all).length}`;
  all[name] = value;
  return name;
}
