import type { DynamoDBRecord } from 'aws-lambda';
import { lastRunKey } from '../../base/background/last-run.ts';
import { batchWrite } from '../../base/table/batch.ts';
import { noteWrite } from '../../base/table/full-disk.ts';
import type { Item } from '../../base/table/item.ts';
import { update } from '../../base/table/transact.ts';

// The heartbeat, an item written every minute. It shows that writes and the stream work.

/** The key of the heartbeat. */
export const heartbeatKey = lastRunKey('heartbeat');

/**
 * Writes the heartbeat: the time now, and in `since` the time of the first one of this table.
 * Returns the item as it was before.
 */
export async function recordHeartbeat(): Promise<Partial<Item>> {
  const now = new Date().toISOString();
  try {
    const before = await update({ Key: heartbeatKey, set: { at: now }, begin: { since: now } });
    noteWrite();
    return before;
  } catch (error) {
    noteWrite(error);
    throw error;
  }
}

/** Returns true for the stream record of a heartbeat, which a consumer gets every minute. */
export function isHeartbeat({ dynamodb }: DynamoDBRecord): boolean {
  return dynamodb?.Keys?.sk?.S === heartbeatKey.sk;
}

/**
 * Records the time of the last heartbeat among the records, if any, as the consumer's last run.
 * Call it when everything before is processed.
 */
export async function passHeartbeat(
  consumer: string,
  records: readonly DynamoDBRecord[],
): Promise<void> {
  const last = records.findLast(isHeartbeat);
  const at = last?.dynamodb?.NewImage?.at?.S;
  if (at !== undefined) await batchWrite([{ put: { ...lastRunKey(consumer), at } }]);
}
