import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { handler as createReview } from '../functions/create-review.ts';
import { handler as eraser } from '../functions/eraser.ts';
import { handler as feed } from '../functions/feed.ts';
import { handler as putVote } from '../functions/put-vote.ts';
import { consumers, isFor } from '../shared/background.ts';
import { leafCapacity } from '../shared/list/rank-tree.ts';
import { insertApplication } from '../shared/oauth/application-repository.ts';
import type { Grant } from '../shared/oauth/grant.ts';
import { tokenResponse } from '../shared/oauth/grant.ts';
import { insertGrant } from '../shared/oauth/grant-repository.ts';
import { newReview } from '../shared/review/review.ts';
import { reviewItem } from '../shared/review/review-writes.ts';
import { batchWrite, type Item } from '../shared/table/batch.ts';
import { table, tableName } from '../shared/table/client.ts';
import { entityKey, type Key, userKey } from '../shared/table/keys.ts';
import { userItem } from '../shared/user/user-repository.ts';
import { invoke } from './invoke.ts';

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

/** An account. `karma` without any votes behind it is for tests that recount nothing. */
export async function makeUser({ display_name = 'Ann', karma = 0 } = {}): Promise<TestUser> {
  const id = randomUUID();
  const created = new Date().toISOString();
  const user = { id, display_name, created, karma };
  await table.send(new PutCommand({ TableName: tableName(), Item: userItem(user) }));
  const caller = { user_id: id, client_id: '0'.repeat(32), scope: 'review vote user' };
  return { id, display_name, created, caller };
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

/** Gives an author so many reviews of one entity that both lists need rank trees, behind the back of everything; and the entity's id. */
export async function makeLongLists({ id }: TestUser): Promise<string> {
  const entity_id = randomUUID();
  const content = { entity_id, entity_type: 'work', text, rating: 4, language: 'en' } as const;
  const reviews = Array.from({ length: leafCapacity + 1 }, () =>
    newReview(id, { ...content, license_choice: 'CC0 1.0', is_draft: false }),
  );
  for (const key of [entityKey(entity_id), userKey(id)]) {
    await setAttributes(key, { 'work|en|both': reviews.length });
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

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
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
    records.push(...(page.Records as DynamoDBRecord[]));
  }
  client.destroy();
  // The embedded engine also reports writes that change nothing; AWS does not.
  return records.filter(
    ({ eventName, dynamodb }) =>
      eventName !== 'MODIFY' || !isDeepStrictEqual(dynamodb?.OldImage, dynamodb?.NewImage),
  );
}

/** Lets the consumers of the table's stream do what is left for them to do, in batches of 100. */
export async function applyStream(): Promise<void> {
  const handlers: Record<string, (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>> = {
    feed,
    eraser,
  };
  for (let records = await readStream(); records.length > 0; records = await readStream()) {
    for (const consumer of consumers) {
      const due = records.filter((record) => isFor(consumer, record));
      for (let start = 0; start < due.length; start += 100) {
        const batch = { Records: due.slice(start, start + 100) };
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

type Numbers = Record<string, unknown>;

/**
 * The numbers and index attributes that the table holds (`stored`), and those that follow from the reviews, votes and users in it
 * (`counted`), by key: design.md, invariant 3. Written without any of the code that keeps them.
 */
export async function recount() {
  // biome-ignore lint/suspicious/noExplicitAny: items of every kind.
  const items: any[] = await scanTable();
  const reviews = new Map(items.filter(({ sk }) => sk === 'REVIEW').map((item) => [item.pk, item]));
  const stored = new Map<string, Numbers>();
  const counted = new Map<string, Numbers>();
  const store = ({ pk, sk }: Key, numbers: Numbers) => stored.set(`${pk} ${sk}`, numbers);
  const expected = (pk: string, sk: string): Numbers => {
    const key = `${pk} ${sk}`;
    const numbers = counted.get(key) ?? {};
    counted.set(key, numbers);
    return numbers;
  };
  const bump = (numbers: Numbers, name: string, by = 1) => {
    numbers[name] = ((numbers[name] as number | undefined) ?? 0) + by;
  };

  /** One entry of a list's rank trees: blocks of 512 hours, slots of four, and minutes. Popularities stay below 64 in tests. */
  function countIn(list: string, time: string, content: string, popularity = 0) {
    const minutes = Math.floor(Date.parse(time) / 60_000);
    const slots = Math.floor(minutes / 240);
    const when = [Math.floor(slots / 128), slots % 128, minutes % 240];
    const along = (order: string, path: number[], letter: string) => {
      for (const [i, child] of path.entries()) {
        const key = i === 0 ? 'root' : [order, ...path.slice(0, i)].join('#');
        const mark = i === 0 && order === 'popularity' ? 'v' : '';
        bump(expected(`TREE#${list}`, key), `${mark}${child}${letter}`);
      }
    };
    const letter = content.charAt(0);
    along('date', when, letter);
    if (popularity === 0) return;
    along('date', when, letter.toUpperCase());
    along('popularity', [popularity, ...when.slice(0, 2)], letter);
  }

  for (const item of items) {
    const { pk, sk } = item;
    const [kind] = sk.split('#');
    if (kind === 'REVIEW') {
      const { edits, popularity, text: current, rating, last_updated } = item;
      const { votes_positive, votes_negative, all, facet, entity, author, date } = item;
      const { revision_votes_positive, revision_votes_negative } = item;
      const revision_votes = { revision_votes_positive, revision_votes_negative };
      const listing = { all, facet, entity, author, date, kind: item.kind };
      const rank = item.popularity_rank === undefined ? undefined : `${item.popularity_rank}`;
      const content = { text: current, rating, last_updated, edits };
      const tallies = { votes_positive, votes_negative, ...revision_votes, popularity };
      store(item, { ...tallies, ...listing, rank, ...content });

      const isListed = item.published_on !== null && !item.is_hidden;
      const has = current === null ? 'rating' : rating === null ? 'text' : 'both';
      const name = `${item.entity_type}|${item.language}|${has}`;
      Object.assign(expected(pk, sk), {
        votes_positive: 0,
        votes_negative: 0,
        revision_votes_positive: 0,
        revision_votes_negative: 0,
        popularity: 0,
      });
      Object.assign(expected(`USER#${item.user_id}`, `CLAIM#${item.entity_id}`), {
        review_id: item.id,
      });
      if (isListed) {
        expected(item.pk, 'PROJECTION').counted = name;
        bump(expected(`USER#${item.user_id}`, 'USER'), name);
        const numbers = expected(`ENTITY#${item.entity_id}`, 'ENTITY');
        bump(numbers, name);
        if (rating !== null) {
          bump(numbers, 'rating_count');
          bump(numbers, 'rating_sum', rating);
        }
        bump(expected('TOTALS', `TOTAL#${item.entity_type}`), `${item.language}|${has}`);
        const { entity_type, language, entity_id, user_id, published_on } = item;
        const owners = [`ENTITY#${entity_id}`, `USER#${user_id}`].filter((pk) =>
          items.some((owner) => owner.pk === pk && owner.rank_tree !== undefined),
        );
        for (const list of ['all', ...owners]) {
          for (const name of [list, `${list}|${entity_type}|${language}`]) {
            countIn(name, published_on, has, item.popularity);
          }
        }
      }
    } else if (kind === 'REVISION') {
      store(item, { votes_positive: item.votes_positive, votes_negative: item.votes_negative });
      const numbers = expected(pk, sk);
      for (const name of ['votes_positive', 'votes_negative']) bump(numbers, name, 0);
    } else if (kind === 'CLAIM') {
      store(item, { review_id: item.review_id });
    } else if (kind === 'USER') {
      const applications = item.applications || undefined;
      store(item, { karma: item.karma, applications, ...nonZeroCounts(item) });
      bump(expected(pk, sk), 'karma', 0);
      expected(pk, 'PROJECTION').counted = 'USER';
      countIn('users', item.created, 'user');
    } else if (kind === 'APP') {
      bump(expected(`USER#${item.user_id}`, 'USER'), 'applications');
    } else if (kind === 'ENTITY') {
      store(item, nonZeroCounts(item));
      expected(pk, sk);
    } else if (pk.startsWith('TREE#') || sk.startsWith('TOTAL#')) {
      const { pk: _, sk: __, ...numbers } = item;
      store(item, Object.fromEntries(Object.entries(numbers).filter(([, n]) => n !== 0)));
      expected(pk, sk);
    } else if (kind === 'PROJECTION' && item.counted !== null) {
      store(item, { counted: item.counted });
    } else if ((kind === 'VOTE' || kind === 'REPORT') && !reviews.has(pk)) {
      store(item, { orphan: true });
    }
  }

  for (const item of items) {
    if (!item.sk.startsWith('VOTE#')) continue;
    const name = item.vote ? 'votes_positive' : 'votes_negative';
    const by = item.vote ? 1 : -1;
    const review = reviews.get(item.pk);
    bump(expected(item.pk, 'REVIEW'), name);
    bump(expected(item.pk, 'REVIEW'), 'popularity', by);
    // The current revision lies on the review.
    if (item.revision === (review?.edits ?? -1) + 1) {
      bump(expected(item.pk, 'REVIEW'), `revision_${name}`);
    } else {
      bump(expected(item.pk, `REVISION#${String(item.revision).padStart(6, '0')}`), name);
    }
    if (review) bump(expected(`USER#${review.user_id}`, 'USER'), 'karma', by);
  }
  for (const [pk, review] of reviews) {
    const numbers = expected(pk, 'REVIEW');
    const revisions = items.filter((item) => item.pk === pk && item.sk.startsWith('REVISION#'));
    const { text, rating, last_updated } = review;
    Object.assign(numbers, {
      ...indexAttributes(review, numbers.popularity as number),
      text,
      rating,
      last_updated,
      edits: revisions.length,
    });
  }
  return { stored: toObject(stored), counted: toObject(counted) };
}

function indexAttributes(review: Record<string, string | null>, popularity: number): Numbers {
  const { id = '', published_on, entity_type, language, text: current, rating } = review;
  const none = { all: undefined, facet: undefined, entity: undefined, kind: undefined };
  if (published_on === null || review.is_hidden) {
    const date = `${published_on ?? review.created}#${id}`;
    return { ...none, author: `UNLISTED#${review.user_id}`, date, rank: undefined };
  }
  const time = BigInt(Date.parse(published_on ?? '')) * 10n ** 16n;
  const start = BigInt(`0x${id?.replaceAll('-', '').slice(0, 13)}`);
  return {
    all: 'REVIEW',
    facet: `${entity_type}|${language}`,
    entity: review.entity_id,
    author: review.user_id,
    date: `${published_on}#${id}`,
    rank: `${BigInt(popularity) * 10n ** 29n + time + start}`,
    kind: current === null ? 'rating' : rating === null ? 'text' : 'both',
  };
}

function nonZeroCounts(item: Record<string, unknown>): Numbers {
  return Object.fromEntries(
    Object.entries(item).filter(
      ([name, number]) => (name.includes('|') || name.startsWith('rating_')) && number !== 0,
    ),
  );
}

function toObject(numbers: ReadonlyMap<string, Numbers>): Record<string, Numbers> {
  return Object.fromEntries(
    [...numbers]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, values]) => [
        key,
        Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
      ]),
  );
}
