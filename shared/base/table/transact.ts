import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { contended, TableBusy } from '../errors.ts';
import { countMetric } from '../metric.ts';
import { backOff } from '../time.ts';
import { table, tableName } from './client.ts';
import { conditional, updateInput } from './expressions.ts';
import type { Item, Key } from './item.ts';
import { checkTransaction, checkUpdate } from './rules.ts';
import { storage } from './storage.ts';
import type { Condition, Update, Write } from './write.ts';

export { maxActions, putNew, type Update, type Write } from './write.ts';

/** Thrown when data has changed since the write's read. `retryStale` reads and writes again. */
export class StaleRead extends Error {}

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
 * `RefusedRequest` or `ExpressionTooLong` before anything is sent. After 10 attempts or 8 s it
 * throws ApiError 429 if others were writing the same items at the last one, which a client can
 * cause. Otherwise it throws `TableBusy`.
 * @example
 *   await transact([
 *     putNew({ ...voteKey(reviewId, userId), ...vote }),
 *     { Update: { Key: reviewKey(reviewId), amounts: { votes_positive: 1, version: 1 } } },
 *     { ConditionCheck: { Key: userKey(userId), where: whereAlive } },
 *   ]);
 */
export async function transact(writes: readonly Write[]): Promise<void> {
  checkTransaction(writes);
  const failures = await (storage()?.transact(writes) ?? sendTransaction(writes));
  if (failures.length > 0) throw errorOf(failures);
}

/** Sends a transaction until it is written. Returns the writes whose conditions failed. */
async function sendTransaction(writes: readonly Write[]): Promise<Write[]> {
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: writes.map(inTransaction),
  });
  const deadline = performance.now() + timeouts.transaction;
  let isContended = false;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await backOff(attempt);
    const left = deadline - performance.now();
    if (left <= 0) break;
    if (attempt > 0) countMetric('Retries', 1);
    isContended = false;
    // The SDK also retries. The signal ends its attempts too.
    const abortSignal = AbortSignal.timeout(Math.ceil(left));
    try {
      await table.send(command, { abortSignal });
      return [];
    } catch (error) {
      if (abortSignal.aborted) break;
      // An earlier attempt without an answer is still in progress.
      if (error instanceof TransactionInProgressException) continue;
      if (!(error instanceof TransactionCanceledException)) throw error;
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
      const failures = writes.filter((_, i) => codes[i] === 'ConditionalCheckFailed');
      if (failures.length > 0) return failures;
      if (!codes.every((code) => code === 'None' || transient.has(code))) throw error;
      isContended = codes.includes('TransactionConflict');
    }
  }
  throw isContended ? contended() : new TableBusy();
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
export async function tryUpdate(update: Update): Promise<boolean> {
  return (await sendUpdate(update)) !== undefined;
}

/** Updates one item without a condition. Returns it as it was before, empty if it is new. */
export async function update(change: Omit<Update, keyof Condition>): Promise<Partial<Item>> {
  return (await sendUpdate(change)) ?? {};
}

/** Returns the item before the update, empty if it is new, or undefined if the condition fails. */
async function sendUpdate(update: Update): Promise<Partial<Item> | undefined> {
  checkUpdate(update);
  const own = storage();
  if (own) return own.update(update);
  const input = { TableName: tableName(), ...updateInput(update) };
  try {
    const { Attributes } = await table.send(
      new UpdateCommand({ ...input, ReturnValues: 'ALL_OLD' }),
    );
    return Attributes ?? {};
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/**
 * Runs a read-then-write, again whenever the write throws `StaleRead`: the new read decides the
 * outcome. Throws ApiError 429 after 4 s.
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
  throw contended();
}

function inTransaction({ otherwise: _, ...write }: Write) {
  const TableName = tableName();
  const [[verb, action]] = Object.entries(write) as [[string, Condition & { Key: Key }]];
  const input = verb === 'Update' ? updateInput(action as Update) : conditional(action);
  return { [verb]: { TableName, ...input } };
}
