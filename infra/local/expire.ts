import { setTimeout as sleep } from 'node:timers/promises';
import type { Schedule } from '../../shared/background/schedules.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import { epochSeconds } from '../../shared/time.ts';
import { expiredItems } from './expiry-index.ts';

/** The daily time of the sweep. */
export const expirySchedule: Schedule = {
  operation: 'expire-items',
  runs: { hour: 0, minute: 30 },
  table: 'write',
};

/** In milliseconds, after each 200 items, so that requests are answered meanwhile. */
const pause = 10;

/**
 * Deletes the expired items of the engine's `file` and returns their number. The embedded engine
 * stores a table's time to live but, unlike AWS, never acts on it. After the signal the rest waits
 * for the next sweep.
 */
export async function expireItems(file: string, signal: AbortSignal): Promise<number> {
  // Imported here because the environment now has the address of the table.
  const { tableName } = await import('../../shared/table/client.ts');
  const { tryTransact } = await import('../../shared/table/transact.ts');
  const now = epochSeconds();
  let deleted = 0;
  for (const keys of expiredItems(file, tableName(), now)) {
    for (const Key of keys) {
      if (signal.aborted) return deleted;
      const deletion = {
        Key,
        // Keeps an item whose expiry was extended meanwhile.
        ConditionExpression: `${tableDefinition.timeToLive} <= :now`,
        ExpressionAttributeValues: { ':now': now },
      };
      if (await tryTransact([{ Delete: deletion }])) deleted++;
    }
    await sleep(pause);
    if (signal.aborted) break;
  }
  return deleted;
}
