import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiError, serviceUnavailable } from '../../base/errors.ts';
import { isTotalKey, totalKey } from '../../base/list/keys.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { getItem } from '../../base/table/query.ts';
import { transact, type Write } from '../../base/table/transact.ts';
import { absentOr, type Condition } from '../../base/table/write.ts';
import { epochSeconds } from '../../base/time.ts';
import { entityTypes } from '../entity/entity-type.ts';
import { rebuildKeys } from '../keys.ts';

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
  /** Replaces all totals, whose items are parts of the lock. Throws ApiError 503 like `keep`. */
  putTotals(totals: readonly Item[]): Promise<void>;
}

/** Is true while a rebuild holds the lock, and until the lock of an interrupted rebuild expires. */
async function isRebuilding(): Promise<boolean> {
  const [key] = rebuildKeys;
  const lock = key && (await getItem(key));
  return Number(lock?.until ?? 0) >= epochSeconds();
}

/** In seconds. The lock of a killed rebuild has expired by then: `lockSeconds` and a half. */
const longestWait = 90;

/** Waits until no rebuild holds the lock. If one does, first calls `onWaiting` with a sentence. */
export async function untilUnlocked(onWaiting: (sentence: string) => void): Promise<void> {
  for (let waited = 0; waited < longestWait && (await isRebuilding()); waited++) {
    if (waited === 0) {
      onWaiting(
        `Another rebuild is running or was interrupted: waiting up to ${longestWait} s for its lock`,
      );
    }
    await sleep(1_000);
  }
}

/** Takes the lock. Throws ApiError 503 if another rebuild holds it. */
export async function takeLock(): Promise<Lock> {
  const id = randomUUID();
  let renewedAt = epochSeconds();
  let until = renewedAt + lockSeconds;
  const busy = serviceUnavailable('Another rebuild is at work');
  await transact(setLocks({ id, until }, isFree(renewedAt), busy));
  return {
    async keep() {
      const now = epochSeconds();
      if (now < renewedAt + renewSeconds) return;
      until = now + lockSeconds;
      await transact(setLocks({ until }, heldBy(id, now), lost()));
      renewedAt = now;
    },
    async putTotals(totals) {
      const counts = new Map(totals.map((item) => [keyString(item), item]));
      const held = heldBy(id, epochSeconds());
      await transact(
        totalKeys.map((key) => {
          const Item = { ...key, ...counts.get(keyString(key)), id, until };
          return { Put: { Item, ...held }, otherwise: lost() };
        }),
      );
    },
    async release() {
      const held = heldBy(id, epochSeconds());
      const otherwise = lost();
      await transact([
        ...rebuildKeys.map((Key) => ({ Delete: { Key, ...held }, otherwise })),
        ...totalKeys.map((Key) => ({ Update: { Key, set: noLock, ...held }, otherwise })),
      ]);
    },
  };
}

const totalKeys = entityTypes.map(totalKey);
const noLock = { id: undefined, until: undefined };

function setLocks(set: object, condition: Condition, otherwise: ApiError): Write[] {
  return [...rebuildKeys, ...totalKeys].map((Key) => ({
    Update: { Key, set: { ...set }, ...condition },
    otherwise,
  }));
}

/**
 * Returns the writes of a transaction that changes totals or rank trees. It throws ApiError 503
 * during a rebuild, and removes an expired lock: a rebuild whose clock is behind then fails instead
 * of overwriting this change. Where totals change, their update looks for the lock on its own item.
 * Else one of the items that are locks is deleted, at random.
 */
export function unlessRebuilding(updates: readonly Write[]): Write[] {
  const otherwise = serviceUnavailable('The totals are being rebuilt');
  const free = isFree(epochSeconds());
  const guarded = updates.map((write): Write => {
    const isTotal = 'Update' in write && isTotalKey(write.Update.Key);
    if (!isTotal) return write;
    return { Update: { ...write.Update, set: noLock, ...free }, otherwise };
  });
  if (guarded.some((write) => write.otherwise === otherwise)) return guarded;
  const Key = rebuildKeys[randomInt(rebuildKeys.length)] as (typeof rebuildKeys)[number];
  return [{ Delete: { Key, ...free }, otherwise }, ...guarded];
}

const isFree = (now: number): Condition => ({ where: [absentOr('until', '<', now)] });

/** Our lock must not have expired: after that the consumer continues. */
const heldBy = (id: string, now: number): Condition => ({
  was: { id },
  where: [['until', '>=', now]],
});

const lost = () =>
  serviceUnavailable(
    `The rebuild lost its lock: it was held up for over ${lockSeconds} seconds, or the clock of this machine is behind`,
  );
