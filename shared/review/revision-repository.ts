import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { bytesOf, largestAnswer } from '../lambda-limits.ts';
import { TableName, table } from '../table/client.ts';
import { between, revisionKey } from '../table/keys.ts';
import { presentRevision, Revision } from './revision.ts';

/** Throws ApiError 404. */
export async function getRevision(reviewId: string, n: number): Promise<Revision> {
  const { Item } = await table.send(
    new GetCommand({ TableName, Key: revisionKey(reviewId, n), ConsistentRead: true }),
  );
  if (!Item) throw notFound('Revision');
  return v.parse(Revision, Item);
}

/** For the status, the headers and the frame of an answer, in bytes. */
const frame = 10_000;

/**
 * The revisions of a review, newest first. When there are more than fill `maxBytes` as Lambda counts an answer, the oldest are left out;
 * each can still be read by its number.
 */
export async function listRevisions(
  reviewId: string,
  maxBytes = largestAnswer - frame,
): Promise<Revision[]> {
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
      // JSON in JSON; the quotes of the outer one count for the comma.
      bytes += bytesOf(JSON.stringify(presentRevision(revision)));
      if (bytes > maxBytes) return revisions;
      revisions.push(revision);
    }
  }
  return revisions;
}
