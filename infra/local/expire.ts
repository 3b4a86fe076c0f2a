import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Schedule } from '../../shared/background.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import { epochSeconds } from '../../shared/time.ts';
import { clientOptions } from './database.ts';

/** A sweep of the table, for the clock. */
export interface Expiry {
  schedule: Schedule;
  /** Gives the number of items that it deleted. */
  handler(): Promise<number>;
  /** Ends a sweep at its next step; what is left waits for the next. */
  stop(): void;
}

/** Items that are read at once and milliseconds between: whoever else asks the engine waits for one step at most. */
const pageSize = 200;
const pause = 10;

/** Deletes the items whose time is over: the embedded engine keeps a table's time to live but never acts on it, as AWS does. */
export function expiryOf(endpoint: string, TableName: string): Expiry {
  const overdue = `${tableDefinition.timeToLive} <= :now`;
  let isStopped = false;

  async function sweep(client: DynamoDBDocumentClient): Promise<number> {
    const values = { ':now': epochSeconds() };
    let deleted = 0;
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new ScanCommand({
          TableName,
          Limit: pageSize,
          ProjectionExpression: 'pk, sk',
          FilterExpression: overdue,
          ExpressionAttributeValues: values,
          ExclusiveStartKey,
        }),
      );
      for (const { pk, sk } of Items) {
        if (isStopped) return deleted;
        deleted += await expire(client, { pk, sk }, values);
      }
      ExclusiveStartKey = LastEvaluatedKey;
      await sleep(pause);
    } while (ExclusiveStartKey && !isStopped);
    return deleted;
  }

  /** Unless somebody has given it more time. */
  async function expire(
    client: DynamoDBDocumentClient,
    Key: Record<string, unknown>,
    values: Record<string, number>,
  ): Promise<number> {
    try {
      const condition = { ConditionExpression: overdue, ExpressionAttributeValues: values };
      await client.send(new DeleteCommand({ TableName, Key, ...condition }));
      return 1;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 0;
      throw error;
    }
  }

  return {
    schedule: { operation: 'expire-items', hour: 0, minute: 30 },
    async handler() {
      const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientOptions(endpoint)));
      try {
        return await sweep(client);
      } finally {
        client.destroy();
      }
    },
    stop() {
      isStopped = true;
    },
  };
}
