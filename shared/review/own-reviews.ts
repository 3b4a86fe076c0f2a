import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { readPage } from '../list/read-page.ts';
import { TableName, table } from '../table/client.ts';
import { between, claimKey } from '../table/keys.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** A page of a user's own reviews, drafts and hidden ones included, newest first, and how many there are. */
export async function listOwnReviews(
  user_id: string,
  limit: number,
  offset: number,
): Promise<{ count: number; reviews: AuthoredReview[] }> {
  const count = await countClaims(user_id);
  if (limit === 0 || offset >= count) return { count, reviews: [] };
  const { entries } = await readPage(
    {
      partitions: [
        { scope: 'author', value: user_id },
        { scope: 'author', value: `UNLISTED#${user_id}` },
      ],
    },
    { order: 'date', descending: true, offset, limit },
  );
  const reviews = await findReviews(
    entries.map(({ pk }) => ({ review_id: pk.slice('REVIEW#'.length), user_id })),
  );
  return { count, reviews };
}

/** A user has one claim for each review, whatever its state. */
async function countClaims(user_id: string): Promise<number> {
  const { pk, sk } = claimKey(user_id, '');
  const pages = paginateQuery(
    { client: table, pageSize: 4000 },
    {
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ...between(sk) },
      ConsistentRead: true,
      Select: 'COUNT',
    },
  );
  let count = 0;
  for await (const { Count = 0 } of pages) count += Count;
  return count;
}
