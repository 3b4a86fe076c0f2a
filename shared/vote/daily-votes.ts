import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { limitExceeded } from '../errors.ts';
import { batchWrite } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { dailyVotesKey } from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import type { User } from '../user/user.ts';
import { userTypeOf } from '../user/user-type.ts';

/** Seconds from the start of its day until DynamoDB may delete a counter that the daily job has missed. */
const keepCounters = 7 * 86_400;

/** Takes one of the voter's first votes of the UTC day in which it is cast. Throws ApiError 403 when there are none at all. */
export function spendVote({ id, karma }: User, voted_at: string): Write {
  const { label, votes_per_day } = userTypeOf(karma);
  const otherwise = limitExceeded(
    `A user of type ${label} may vote on ${votes_per_day} reviews a day (UTC); changing a vote is always possible`,
  );
  if (votes_per_day === 0) throw otherwise;
  const day = voted_at.slice(0, 10);
  return {
    Update: {
      Key: dailyVotesKey(id, day),
      UpdateExpression: 'ADD #count :one SET expires_at = :expires_at, #all = :all, #date = :date',
      ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
      ExpressionAttributeNames: { '#count': 'count', '#all': 'all', '#date': 'date' },
      ExpressionAttributeValues: {
        ':one': 1,
        ':limit': votes_per_day,
        ':all': 'VOTES',
        ':date': `${day}#${id}`,
        ':expires_at': Date.parse(day) / 1000 + keepCounters,
      },
    },
    otherwise,
  };
}

/** Deletes the counters of the UTC days before `day` (yyyy-mm-dd), a page at a time; gives how many. Safe to repeat. */
export async function deleteDailyVotes(day: string): Promise<number> {
  const pages = paginateQuery(
    { client: table, pageSize: 250 },
    {
      TableName,
      IndexName: 'all-by-date',
      KeyConditionExpression: '#all = :all AND #date < :day',
      ExpressionAttributeNames: { '#all': 'all', '#date': 'date' },
      ExpressionAttributeValues: { ':all': 'VOTES', ':day': day },
    },
  );
  let deleted = 0;
  for await (const { Items = [] } of pages) {
    await batchWrite(Items.map(({ pk, sk }) => ({ delete: { pk, sk } })));
    deleted += Items.length;
  }
  return deleted;
}
