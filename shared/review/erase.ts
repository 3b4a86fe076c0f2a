import { batchWrite } from '../table/batch.ts';
import { entityKey, projectionKey } from '../table/keys.ts';
import { getItem, queryItems } from '../table/query.ts';
import { tryTransact } from '../table/transact.ts';

/**
 * Deletes the revisions, votes, reports and the case of a deleted review, by its partition key, page by page. Can be stopped anywhere and
 * repeated. What is projected of it stays: that expires by itself.
 */
export async function eraseRemains(pk: string): Promise<void> {
  for await (const items of queryItems({ pk, sk: '' })) {
    const remains = items.filter(({ sk }) => sk !== projectionKey({ pk }).sk);
    await batchWrite(remains.map(({ sk }) => ({ delete: { pk, sk } })));
  }
}

/**
 * Deletes the item of an entity on which no public review is left; gives whether it did. One whose list has had rank trees is kept,
 * because its nodes are.
 */
export async function eraseEntity(entityId: string): Promise<boolean> {
  const Key = entityKey(entityId);
  const item = await getItem(Key);
  if (!item || !isEmpty(item)) return false;
  // One that has been changed meanwhile may have a review again.
  return tryTransact([
    {
      Delete: {
        Key,
        ConditionExpression: 'review_count = :none AND attribute_not_exists(rank_tree)',
        ExpressionAttributeValues: { ':none': 0 },
      },
    },
  ]);
}

/** Whether the item of an entity counts nothing, and has no rank trees. */
export function isEmpty({ review_count, rank_tree }: Readonly<Record<string, unknown>>): boolean {
  return review_count === 0 && rank_tree === undefined;
}
