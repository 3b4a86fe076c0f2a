import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { TableName, table } from '../table/client.ts';
import { between, revisionKey } from '../table/keys.ts';
import { Revision } from './revision.ts';

/** Throws ApiError 404. */
export async function getRevision(reviewId: string, n: number): Promise<Revision> {
  const { Item } = await table.send(
    new GetCommand({ TableName, Key: revisionKey(reviewId, n), ConsistentRead: true }),
  );
  if (!Item) throw notFound('Revision');
  return v.parse(Revision, Item);
}

/**
 * The revisions of a review, newest first. A Lambda may answer with 6 MB, so when there are more than fill about `maxBytes` as
 * JSON, the oldest are left out; each can still be read by its number.
 */
export async function listRevisions(reviewId: string, maxBytes = 5_000_000): Promise<Revision[]> {
  const pages = paginateQuery(
    { client: table, pageSize: 1000 },
    {
      TableName,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': revisionKey(reviewId, 1).pk, ...between('REVISION#') },
      ConsistentRead: true,
      ScanIndexForward: false,
    },
  );
  const revisions: Revision[] = [];
  let bytes = 0;
  for await (const { Items = [] } of pages) {
    for (const item of Items) {
      const revision = v.parse(Revision, item);
      bytes += Buffer.byteLength(JSON.stringify(revision));
      if (bytes > maxBytes) return revisions;
      revisions.push(revision);
    }
  }
  return revisions;
}
