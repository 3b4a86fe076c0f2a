import { paginateQuery } from '@aws-sdk/lib-dynamodb';
import { TableName, table } from '../table/client.ts';

/** How many reviews a user has published and votes cast, since the start of the UTC day, in seven days, in the UTC month. */
export async function readActivity(user_id: string) {
  const now = new Date();
  const iso = now.toISOString();
  const since = {
    today: `${iso.slice(0, 10)}T00:00:00.000Z`,
    last_7_days: new Date(now.getTime() - 7 * 86_400_000).toISOString(),
    this_month: `${iso.slice(0, 7)}-01T00:00:00.000Z`,
  };
  const counted = Object.entries({ reviews: user_id, votes: `VOTER#${user_id}` }).flatMap(
    ([what, partition]) =>
      Object.entries(since).map(
        async ([when, start]) => [`${what}_${when}`, await countSince(partition, start)] as const,
      ),
  );
  return Object.fromEntries(await Promise.all(counted));
}

async function countSince(partition: string, start: string): Promise<number> {
  const pages = paginateQuery(
    { client: table, pageSize: 4000 },
    {
      TableName,
      IndexName: 'author-by-date',
      KeyConditionExpression: '#author = :author AND #date >= :start',
      ExpressionAttributeNames: { '#author': 'author', '#date': 'date' },
      ExpressionAttributeValues: { ':author': partition, ':start': start },
      Select: 'COUNT',
    },
  );
  let count = 0;
  for await (const { Count = 0 } of pages) count += Count;
  return count;
}
