import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { TableName, table } from '../table/client.ts';
import { cursorKeyKey } from '../table/keys.ts';

/** Makes the key of cursors, unless there is one: see cursor.ts. */
export async function insertCursorKey(): Promise<void> {
  try {
    await table.send(
      new PutCommand({
        TableName,
        Item: { ...cursorKeyKey, secret: randomBytes(32).toString('base64url') },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
