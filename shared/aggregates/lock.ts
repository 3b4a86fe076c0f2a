import { randomInt, randomUUID } from 'node:crypto';
import { serviceUnavailable } from '../errors.ts';
import { rebuildKeys } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { transact, type Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';

// The lock that keeps the consumer of the stream and a rebuild apart.

/** Seconds from the last renewal to the expiry of a lock, and between two renewals. */
const lockSeconds = 60;
const renewSeconds = 10;

/** Lock of a rebuild. Nothing else changes totals and rank trees while it is held. */
export interface Lock {
  /** Renews the lock; call it before every write. Throws ApiError 503 if the lock has expired. */
  keep(): Promise<void>;
  /** Throws ApiError 503 if the lock has expired. Numbers written may then be wrong. */
  release(): Promise<void>;
}

/** Is true while a rebuild holds the lock, and until the lock of an interrupted rebuild expires. */
export async function isRebuilding(): Promise<boolean> {
  const [key] = rebuildKeys;
  const lock = key && (await getItem(key));
  return Number(lock?.until ?? 0) >= epochSeconds();
}

/** Takes the lock. Throws ApiError 503 if another rebuild holds it. */
export async function takeLock(): Promise<Lock> {
  const id = randomUUID();
  let renewedAt = epochSeconds();
  const until = renewedAt + lockSeconds;
  await transact(
    rebuildKeys.map((key) => ({
      Put: { Item: { ...key, id, until }, ...isFree(renewedAt) },
      otherwise: serviceUnavailable('Another rebuild is at work'),
    })),
  );
  return {
    async keep() {
      const now = epochSeconds();
      if (now < renewedAt + renewSeconds) return;
      const set = { until: now + lockSeconds };
      await transact(
        rebuildKeys.map((Key) => ({
          Update: { Key, set, ...heldBy(id, now) },
          otherwise: lost(),
        })),
      );
      renewedAt = now;
    },
    async release() {
      const now = epochSeconds();
      await transact(
        rebuildKeys.map((Key) => ({ Delete: { Key, ...heldBy(id, now) }, otherwise: lost() })),
      );
    },
  };
}

/**
 * Returns the write that every transaction changing totals or rank trees includes. It throws
 * ApiError 503 during a rebuild, and deletes an expired lock. A rebuild whose clock is behind then
 * fails instead of overwriting this change.
 */
export function noRebuild(): Write {
  const Key = rebuildKeys[randomInt(rebuildKeys.length)] as (typeof rebuildKeys)[number];
  const otherwise = serviceUnavailable('The totals are being rebuilt');
  return { Delete: { Key, ...isFree(epochSeconds()) }, otherwise };
}

const isFree = (now: number) => untilIs('attribute_not_exists(pk) OR #until < :now', now);

/** Our lock must not have expired: after that the consumer continues. */
const heldBy = (id: string, now: number) => ({ was: { id }, ...untilIs('#until >= :now', now) });

const untilIs = (ConditionExpression: string, now: number) => ({
  ConditionExpression,
  ExpressionAttributeNames: { '#until': 'until' },
  ExpressionAttributeValues: { ':now': now },
});

const lost = () =>
  serviceUnavailable(
    `The rebuild lost its lock: it was held up for over ${lockSeconds} seconds, or the clock of this machine is behind`,
  );
