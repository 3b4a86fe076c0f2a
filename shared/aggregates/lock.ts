import { randomInt, randomUUID } from 'node:crypto';
import { type ApiError, serviceUnavailable } from '../errors.ts';
import { rebuildKeys } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { transact, type Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';

/** Seconds that the consumer keeps its hands off after the last sign of life of a rebuild. */
const lockSeconds = 60;

/** Seconds after which a rebuild gives its next sign of life. */
const renewSeconds = 10;

/** What a rebuild holds, so that nobody else changes totals and rank trees. */
export interface Lock {
  /** Goes before every write. Throws ApiError 503 when the lock has expired. */
  keep(): Promise<void>;
  /** Throws ApiError 503 when the lock had expired, so that what was written may be wrong. */
  release(): Promise<void>;
}

/** Is true while a rebuild has the lock, and until that of an interrupted one expires. */
export async function isRebuilding(): Promise<boolean> {
  const [key] = rebuildKeys;
  const lock = key && (await getItem(key));
  return Number(lock?.until ?? 0) >= epochSeconds();
}

/** Throws ApiError 503 when somebody else has it. */
export async function takeLock(): Promise<Lock> {
  const id = randomUUID();
  let kept = epochSeconds();
  await transact(
    rebuildKeys.map((key) => ({
      Put: { Item: { ...key, id, until: kept + lockSeconds }, ...isFree(kept) },
      otherwise: serviceUnavailable('Another rebuild is at work'),
    })),
  );
  return {
    async keep() {
      const now = epochSeconds();
      if (now < kept + renewSeconds) return;
      const change = { set: { until: now + lockSeconds }, ...heldBy(id, now) };
      await transact(rebuildKeys.map((Key) => ({ Update: { Key, ...change }, otherwise: lost() })));
      kept = now;
    },
    async release() {
      const held = heldBy(id, epochSeconds());
      await transact(
        rebuildKeys.map((key) => ({ Delete: { Key: key, ...held }, otherwise: lost() })),
      );
    },
  };
}

/**
 * Part of every transaction that changes totals or rank trees: throws ApiError 503 while they are
 * being rebuilt. An expired lock is deleted. A rebuild that takes it for valid, because its clock
 * is behind, then fails instead of overwriting this change unnoticed.
 */
export function noRebuild(): Write {
  return {
    Delete: {
      Key: rebuildKeys[randomInt(rebuildKeys.length)] as (typeof rebuildKeys)[number],
      ...isFree(epochSeconds()),
    },
    otherwise: serviceUnavailable('The totals are being rebuilt'),
  };
}

/** The condition that nobody has the lock, or had it so long without a sign of life that it is free. */
function isFree(now: number) {
  return {
    ConditionExpression: 'attribute_not_exists(pk) OR #until < :now',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':now': now },
  };
}

/** The condition that the lock is still ours: once it has expired the consumer may have gone on, even if nobody else has taken it. */
function heldBy(id: string, now: number) {
  return {
    was: { id },
    ConditionExpression: '#until >= :now',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':now': now },
  };
}

function lost(): ApiError {
  return serviceUnavailable(
    `The rebuild lost its lock: it was held up for over ${lockSeconds} seconds, or the clock of this machine is behind`,
  );
}
