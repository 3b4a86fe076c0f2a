import { setTimeout as sleep } from 'node:timers/promises';
import type { Schedule } from '../../../shared/base/background/schedule.ts';
import { tableDefinition } from '../../../shared/base/table/definition.ts';
import type { SqliteStorage } from '../../../shared/base/table/sqlite/storage.ts';
import { tryTransact } from '../../../shared/base/table/transact.ts';
import { epochSeconds } from '../../../shared/base/time.ts';

/** The daily time of the sweep. */
export const expirySchedule: Schedule = {
  operation: 'expire-items',
  runs: { hour: 0, minute: 30 },
  table: 'write',
};

const pageSize = 200;

/** In milliseconds, after each page, so that requests are answered meanwhile. */
const pause = 10;

/**
 * Deletes the expired items of the storage, as DynamoDB does by itself, and returns their number.
 * After the signal the rest waits for the next sweep.
 */
export async function expireItems(storage: SqliteStorage, signal: AbortSignal): Promise<number> {
  const now = epochSeconds();
  let deleted = 0;
  for (;;) {
    const keys = await storage.expired(now, pageSize);
    for (const Key of keys) {
      if (signal.aborted) return deleted;
      // Keeps an item whose expiry was extended meanwhile.
      const where = [[tableDefinition.timeToLive, '<=', now]] as const;
      if (await tryTransact([{ Delete: { Key, where } }])) deleted++;
    }
    if (keys.length < pageSize) return deleted;
    await sleep(pause);
  }
}
