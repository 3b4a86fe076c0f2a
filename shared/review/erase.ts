import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchWrite } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { appliedKey } from '../table/keys.ts';

/**
 * Deletes the revisions, votes and reports of a deleted review, by its partition key, page by page. Can be stopped anywhere and
 * repeated. What the feed has applied stays: it expires by itself.
 */
export async function eraseRemains(pk: string): Promise<void> {
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
        ProjectionExpression: 'pk, sk',
        Limit: 250,
        ExclusiveStartKey,
      }),
    );
    const remains = Items.filter(({ sk }) => sk !== appliedKey({ pk }).sk);
    await batchWrite(remains.map((item) => ({ delete: { pk, sk: item.sk } })));
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
}
