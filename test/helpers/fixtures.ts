import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { handler as createReview } from '../../functions/create-review.ts';
import { handler as eraser } from '../../functions/eraser.ts';
import { handler as putVote } from '../../functions/put-vote.ts';
import { handler as updateAggregates } from '../../functions/update-aggregates.ts';
import { consumers, isFor } from '../../shared/background.ts';
import { leafCapacity } from '../../shared/list/rank-tree.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import type { Grant } from '../../shared/oauth/grant.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { insertGrant } from '../../shared/oauth/grant-repository.ts';
import { newReview, type Review } from '../../shared/review/review.ts';
import { reviewItem } from '../../shared/review/review-writes.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { table, tableName } from '../../shared/table/client.ts';
import type { Item, Key } from '../../shared/table/item.ts';
import { entityKey, userKey } from '../../shared/table/keys.ts';
import { setModerator, userItem } from '../../shared/user/user-repository.ts';
import { invoke } from './invoke.ts';
import './table.ts';

/** Someone who can call the API. */
export interface TestUser {
  id: string;
  display_name: string;
  /** ISO 8601. */
  created: string;
  caller: { user_id: string; client_id: string; scope: string };
}

/** 52 characters. */
export const text = 'A record that gets better with every single listen.\n';

/**
 * Makes an account; without karma it has ten votes a day. `karma` without votes behind it is a
 * wrong count.
 */
export async function makeUser({ display_name = 'Ann', karma = 0 } = {}): Promise<TestUser> {
  const id = randomUUID();
  const created = new Date().toISOString();
  const user = { id, display_name, created, karma };
  await table.send(new PutCommand({ TableName: tableName(), Item: userItem(user) }));
  const caller = { user_id: id, client_id: '0'.repeat(32), scope: 'review vote user' };
  return { id, display_name, created, caller };
}

/** Makes a user who is a moderator. */
export async function makeModerator(display_name: string): Promise<TestUser> {
  const user = await makeUser({ display_name });
  await setModerator(user.id, true);
  return user;
}

/** Several of them. */
export function makeUsers(count: number): Promise<TestUser[]> {
  return Promise.all(Array.from({ length: count }, () => makeUser()));
}

/** The body of `POST /review/`, of a new entity. */
export function reviewBody(content: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    entity_id: randomUUID(),
    entity_type: 'release_group',
    text,
    rating: 4,
    license_choice: 'CC BY-SA 3.0',
    ...content,
  };
}

/** Publishes a review, or saves a draft with `is_draft`, and gives its id. */
export async function makeReview(
  { caller }: TestUser,
  content: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await invoke(createReview, { caller, body: reviewBody(content) });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
}

/** Makes so many reviews of one entity by one author that both lists need rank trees. */
export async function makeLongLists(
  { id }: TestUser,
  change: (review: Review) => Partial<Review> = () => ({}),
): Promise<string> {
  const entity_id = randomUUID();
  const content = { entity_id, entity_type: 'work', text, rating: 4, language: 'en' } as const;
  const reviews = Array.from({ length: leafCapacity + 1 }, () => {
    const review = newReview(id, { ...content, license_choice: 'CC0 1.0', is_draft: false });
    return { ...review, ...change(review) };
  });
  const counts = new Map<string, number>();
  for (const { rating } of reviews) {
    counts.set(`work|en|both${rating}`, 1 + (counts.get(`work|en|both${rating}`) ?? 0));
  }
  for (const key of [entityKey(entity_id), userKey(id)]) {
    await setAttributes(key, Object.fromEntries(counts));
  }
  await batchWrite(reviews.map((review) => ({ put: reviewItem(review) })));
  return entity_id;
}

/** Casts a vote. */
export async function vote({ caller }: TestUser, review_id: string, up = true): Promise<void> {
  const answer = await invoke(putVote, { caller, path: { review_id }, body: { vote: up } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** An application of `owner`'s that `user` lets act, and the tokens of that. */
export async function makeGrant(
  user: TestUser,
  scopes: Grant['scopes'],
  { owner = user, lifetime }: { owner?: TestUser; lifetime?: number } = {},
) {
  const { client_id } = await insertApplication(owner.id, {
    name: 'Demo',
    desc: 'Demo',
    website: 'https://client.example/',
    redirect_uri: 'https://client.example/callback',
  });
  const grant = await insertGrant({ user_id: user.id, client_id, scopes });
  return { grant, ...(await tokenResponse(grant, lifetime)) };
}

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

let iterator: string | undefined;

/** The records of the table's stream that nobody has asked for yet, as Lambda gives them. */
export async function readStream(): Promise<DynamoDBRecord[]> {
  const client = new DynamoDBStreamsClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
  iterator ??= await openStream(client);
  const records: DynamoDBRecord[] = [];
  for (;;) {
    const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator }));
    iterator = page.NextShardIterator ?? iterator;
    if (!page.Records?.length) break;
    records.push(...page.Records.map(toLambda));
  }
  client.destroy();
  // The embedded engine also reports writes that change nothing; AWS does not.
  return records.filter(
    ({ eventName, dynamodb }) =>
      eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.OldImage, dynamodb?.NewImage),
  );
}

/** Lambda tells times in seconds. */
function toLambda({ dynamodb, ...record }: StreamRecord): DynamoDBRecord {
  const made = Number(dynamodb?.ApproximateCreationDateTime) / 1000;
  return {
    ...record,
    dynamodb: { ...dynamodb, ApproximateCreationDateTime: made },
  } as DynamoDBRecord;
}

/** Lets the consumers of the table's stream do what is left for them to do. */
export async function applyStream(): Promise<void> {
  const handlers: Record<string, (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>> = {
    'update-aggregates': updateAggregates,
    eraser,
  };
  for (let records = await readStream(); records.length > 0; records = await readStream()) {
    for (const consumer of consumers) {
      const due = records.filter((record) => isFor(consumer, record));
      for (let start = 0; start < due.length; start += consumer.batchSize) {
        const batch = { Records: due.slice(start, start + consumer.batchSize) };
        const result = await handlers[consumer.operation]?.(batch);
        if (result?.batchItemFailures.length !== 0) throw new Error(`${consumer.operation} failed`);
      }
    }
  }
}

async function openStream(client: DynamoDBStreamsClient): Promise<string | undefined> {
  const { Streams = [] } = await client.send(new ListStreamsCommand({ TableName: tableName() }));
  const StreamArn = Streams[0]?.StreamArn;
  const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId;
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  return ShardIterator;
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
