import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { batchWrite } from '../table/batch.ts';
import { table, tableName } from '../table/client.ts';
import { noteWrite } from '../table/full-disk.ts';
import type { Item } from '../table/item.ts';
import { lastRunKey } from '../table/keys.ts';

// The heartbeat, an item written every minute. It shows that writes and the stream work.

/** The key of the heartbeat. */
export const heartbeatKey = lastRunKey('heartbeat');

/**
 * Writes the heartbeat: the time now, and in `since` the time of the first one of this table.
 * Returns the item as it was before.
 */
export async function recordHeartbeat(): Promise<Partial<Item>> {
  const command = new UpdateCommand({
    TableName: tableName(),
    Key: heartbeatKey,
    ReturnValues: 'ALL_OLD',
    UpdateExpression: 'SET #at = :now, #since = if_not_exists(#since, :now)',
    ExpressionAttributeNames: { '#at': 'at', '#since': 'since' },
    ExpressionAttributeValues: { ':now': new Date().toISOString() },
  });
  try {
    const { Attributes = {} } = await table.send(command);
    noteWrite();
    return Attributes;
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
