import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { deleteGrantsOf } from '../oauth/application-repository.ts';
import { deleteGrants } from '../oauth/grant-repository.ts';
import { eraseReview } from '../review/review-repository.ts';
import { batchWrite, type Item } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import {
  applicationKey,
  between,
  claimKey,
  dailyVotesKey,
  type Key,
  userKey,
} from '../table/keys.ts';
import { eraseVote } from '../vote/vote-repository.ts';

/**
 * Takes away what a deleted account has made: grants, applications, reviews, votes, reports, codes, and at last the account itself; every count
 * follows in the same transaction. It can be stopped anywhere and repeated. What an index did not show yet is found by a second run, which the
 * stream brings about when the account is gone.
 */
export async function eraseAccount(userId: string): Promise<void> {
  await deleteGrants(userId);
  for await (const { pk, sk } of listed(`OWNER#${userId}`)) {
    await batchWrite([{ delete: { pk, sk } }]);
    await deleteGrantsOf(pk.slice(applicationKey('').pk.length));
  }
  for await (const claim of owned(claimKey(userId, ''))) {
    await eraseReview(String(claim.review_id));
    await batchWrite([{ delete: { pk: claim.pk, sk: claim.sk } }]);
  }
  for await (const { pk } of listed(`VOTER#${userId}`)) {
    await eraseVote(pk.slice('REVIEW#'.length), userId);
  }
  for (const partition of [`REPORTER#${userId}`, `APPROVER#${userId}`]) {
    for await (const { pk, sk } of listed(partition)) await batchWrite([{ delete: { pk, sk } }]);
  }
  for await (const { pk, sk } of owned(dailyVotesKey(userId, ''))) {
    await batchWrite([{ delete: { pk, sk } }]);
  }
  await batchWrite([{ delete: userKey(userId) }]);
}

/** The user's items whose keys begin so. */
async function* owned({ pk, sk }: Key): AsyncGenerator<Item> {
  const pages = paginateQuery(
    { client: table, pageSize: 250 },
    {
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': pk, ...between(sk) },
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages) yield* Items as Item[];
}

/** The keys of what is listed under this partition of the author index. */
async function* listed(author: string): AsyncGenerator<Key> {
  const pages = paginateQuery(
    { client: table, pageSize: 250 },
    {
      TableName,
      IndexName: 'author-by-date',
      KeyConditionExpression: '#author = :author',
      ExpressionAttributeNames: { '#author': 'author' },
      ExpressionAttributeValues: { ':author': author },
    },
  );
  for await (const { Items = [] } of pages) yield* Items as Item[];
}
