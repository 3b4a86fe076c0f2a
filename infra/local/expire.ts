import { setTimeout as sleep } from 'node:timers/promises';
import type { Schedule } from '../../shared/background.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import { epochSeconds } from '../../shared/time.ts';

/** When a sweep of the table begins. */
export const expirySchedule: Schedule = { operation: 'expire-items', hour: 0, minute: 30 };

/** Items that are read at once and milliseconds between: whoever else asks the engine waits for one step at most. */
const pageSize = 200;
const pause = 10;

/**
 * Deletes the items whose time is over: the embedded engine keeps a table's time to live but never
 * acts on it, as AWS does. Gives their number. What is left at the signal waits for the next sweep.
 */
export async function expireItems(signal: AbortSignal): Promise<number> {
  // Only now does the environment say where the table is.
  const { scanItems } = await import('../../shared/table/query.ts');
  const { tryTransact } = await import('../../shared/table/transact.ts');
  const overdue = `${tableDefinition.timeToLive} <= :now`;
  const values = { ExpressionAttributeValues: { ':now': epochSeconds() } };
  const filter = { FilterExpression: overdue, ProjectionExpression: 'pk, sk', ...values };
  let deleted = 0;
  for await (const { items } of scanItems({ pageSize, ...filter })) {
    for (const Key of items) {
      if (signal.aborted) return deleted;
      // Unless somebody has given it more time.
      const write = { Delete: { Key, ConditionExpression: overdue, ...values } };
      if (await tryTransact([write])) deleted++;
    }
    await sleep(pause);
    if (signal.aborted) break;
  }
  return deleted;
}
