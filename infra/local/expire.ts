import { setTimeout as sleep } from 'node:timers/promises';
import type { Schedule } from '../../shared/background/schedules.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import { epochSeconds } from '../../shared/time.ts';

/** The daily time of the sweep. */
export const expirySchedule: Schedule = {
  operation: 'expire-items',
  runs: { hour: 0, minute: 30 },
  table: 'write',
};

/** Items per read, and milliseconds between reads. Other requests wait for one read at most. */
const pageSize = 200;
const pause = 10;

/**
 * Deletes expired items and returns their number. The embedded engine stores a table's time to live
 * but, unlike AWS, never acts on it. After the signal the rest waits for the next sweep.
 */
export async function expireItems(signal: AbortSignal): Promise<number> {
  // Imported here because the environment now has the address of the table.
  const { scanItems } = await import('../../shared/table/query.ts');
  const { tryTransact } = await import('../../shared/table/transact.ts');
  const isExpired = `${tableDefinition.timeToLive} <= :now`;
  const now = { ':now': epochSeconds() };
  const pages = scanItems({
    pageSize,
    FilterExpression: isExpired,
    ProjectionExpression: 'pk, sk',
    ExpressionAttributeValues: now,
  });
  let deleted = 0;
  for await (const { items } of pages) {
    for (const Key of items) {
      if (signal.aborted) return deleted;
      const deletion = {
        Key,
        // Keeps an item whose expiry was extended meanwhile.
        ConditionExpression: isExpired,
        ExpressionAttributeValues: now,
      };
      if (await tryTransact([{ Delete: deletion }])) deleted++;
    }
    await sleep(pause);
    if (signal.aborted) break;
  }
  return deleted;
}
