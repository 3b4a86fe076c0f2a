import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  GetCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { batchWrite } from '../../shared/table/batch.ts';
import { table, tableName } from '../../shared/table/client.ts';
import type { Item, Key } from '../../shared/table/item.ts';
import './table.ts';

/** An item as it lies in the table. */
export async function readItem(Key: Key): Promise<Item | undefined> {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key, ConsistentRead: true }),
  );
  return Item as Item | undefined;
}

/** Sets attributes of an item behind the back of everything. */
export async function setAttributes(Key: Key, attributes: Record<string, unknown>): Promise<void> {
  const names = Object.keys(attributes);
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key,
      UpdateExpression: `SET ${names.map((_, i) => `#n${i} = :v${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#n${i}`, name])),
      ExpressionAttributeValues: Object.fromEntries(
        names.map((name, i) => [`:v${i}`, attributes[name]]),
      ),
    }),
  );
}

/** Everything in the table, or in that of another database. */
export async function scanTable(endpoint?: string): Promise<Item[]> {
  const client = endpoint ? DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint })) : table;
  const items: Item[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName(),
        ConsistentRead: true,
        Limit: 4000,
        ExclusiveStartKey,
      }),
    );
    items.push(...((page.Items ?? []) as Item[]));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

/** Stores items as they are, in the place of what is there. */
export const storeItems = (items: readonly object[]) => batchWrite(items.map((put) => ({ put })));
