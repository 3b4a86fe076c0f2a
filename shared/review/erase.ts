import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { batchWrite } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { projectionKey } from '../table/keys.ts';

/**
 * Deletes the revisions, votes and reports of a deleted review, by its partition key, page by page. Can be stopped anywhere and
 * repeated. What the feed has applied stays: it expires by itself.
 */
export async function eraseRemains(pk: string): Promise<void> {
  const pages = paginateQuery(
    { client: table, pageSize: 250 },
    {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
      ProjectionExpression: 'pk, sk',
    },
  );
  for await (const { Items = [] } of pages) {
    const remains = Items.filter(({ sk }) => sk !== projectionKey({ pk }).sk);
    await batchWrite(remains.map(({ sk }) => ({ delete: { pk, sk } })));
  }
}
