import type { DynamoDBRecord } from 'aws-lambda';
import { chunks } from '../chunks.ts';
import type { Item } from '../table/batch.ts';
import { changesKey, changesLanes, idIn, laneKey, reviewKey } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import { retryStale, StaleRead, transact } from '../table/transact.ts';

/** That a public review was written, or is public no more. */
export interface Change {
  id: string;
  /** That of the item after the write: it rises with every one. */
  version: number;
  isGone: boolean;
}

/** A change, and when it was made by DynamoDB's clock, in epoch ms. */
export interface Made extends Change {
  made: number;
}

/** Some changes that were logged together. */
export interface Logged {
  /** When, in epoch ms: the place in the lane. */
  at: number;
  /** The place of those before them in the lane; 0 for the first. */
  before: number;
  changes: Change[];
}

/** Seconds for which changes are kept: a day more than a position is good for. */
const keptSeconds = 31 * 86_400;

/**
 * Milliseconds that a function's clock, which dates the log, may be behind DynamoDB's, which dates
 * changes.
 */
const clockSkew = 10_000;

/** Changes in an item, about 1 KB: one alone costs as much. */
const mostTogether = 20;

/** The lane that all changes of a review are logged in. */
function laneOf(reviewId: string): number {
  return Number.parseInt(reviewId.slice(0, 8), 16) % changesLanes;
}

/** What records of the table's stream say of public reviews. What is a draft or hidden before and after is nobody's business. */
export function changesIn(records: readonly DynamoDBRecord[]): Made[] {
  return records.flatMap(({ dynamodb = {} }) => {
    const { Keys, OldImage, NewImage, ApproximateCreationDateTime } = dynamodb;
    if (Keys?.sk?.S !== reviewKey('').sk) return [];
    const isPublic = NewImage?.all?.S !== undefined;
    if (!isPublic && OldImage?.all?.S === undefined) return [];
    const version = NewImage ? Number(NewImage.version?.N) : Number(OldImage?.version?.N) + 1;
    const id = idIn({ pk: `${Keys.pk?.S}` });
    return [{ id, version, isGone: !isPublic, made: 1000 * (ApproximateCreationDateTime ?? 0) }];
  });
}

/**
 * Logs changes for those who follow them. Each lane is a chain: an item names the place of the one before it, and the head of the lane, in the
 * same transaction, that of the last. So nobody who reads up to a place misses what becomes visible later. What the stream tells again is in the
 * log already, since it was first told, and is left out.
 */
export async function logChanges(made: readonly Made[]): Promise<void> {
  const byLane = Map.groupBy(made, ({ id }) => laneOf(id));
  await Promise.all([...byLane].map(([lane, changes]) => retryStale(() => append(lane, changes))));
}

async function append(lane: number, made: readonly Made[]): Promise<void> {
  const since = Math.min(...made.map((each) => each.made)) - clockSkew;
  const [head, recent] = await Promise.all([getItem(laneKey(lane)), readNewest(lane, since)]);
  const last = Number(head?.latest ?? 0);
  // A head without the item that it names has been read in the middle of a transaction.
  if (last > since && recent[0]?.at !== last) throw new StaleRead();
  const known = newest(recent.flatMap(({ changes }) => changes));
  const changes = [...newest(made).values()].filter(
    ({ id, version }) => version > (known.get(id)?.version ?? 0),
  );
  if (changes.length === 0) return;

  const items: Item[] = [];
  let latest = last;
  for (const some of chunks(changes, mostTogether)) {
    const before = latest;
    latest = Math.max(Date.now(), before + 1);
    items.push({
      ...changesKey(lane, latest),
      before,
      changes: some.map(toText),
      expires_at: Math.floor(latest / 1000) + keptSeconds,
    });
  }
  await transact([
    {
      Update: {
        Key: laneKey(lane),
        UpdateExpression: 'SET #latest = :latest',
        ConditionExpression: head ? '#latest = :last' : 'attribute_not_exists(pk)',
        ExpressionAttributeNames: { '#latest': 'latest' },
        ExpressionAttributeValues: { ':latest': latest, ...(head && { ':last': last }) },
      },
    },
    ...items.map((Item) => ({
      Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' },
    })),
  ]);
}

/** What was logged in a lane since a time, newest first: up to 1 MB, which are some 20,000 changes. */
async function readNewest(lane: number, since: number): Promise<Logged[]> {
  const { sk: after } = changesKey(lane, Math.max(0, since));
  const pages = queryItems(changesKey(lane), { after, descending: true, pageSize: 4000 });
  const { value = [] } = await pages.next();
  return (value as Item[]).map(toLogged);
}

/** What was logged in a lane behind a place, in pages that hold 500 changes at most. */
export async function* readLogged(lane: number, place: number): AsyncGenerator<Logged[]> {
  const { sk: after } = changesKey(lane, place);
  const pages = queryItems(changesKey(lane), { after, pageSize: 25 });
  for await (const items of pages) yield items.map(toLogged);
}

/** The place of what was last logged, by lane. */
export async function readHeads(): Promise<number[]> {
  const heads = Array.from({ length: changesLanes }, () => 0);
  for (const { sk, latest } of await collect(queryItems(laneKey()))) {
    heads[Number(sk.slice(laneKey().sk.length))] = Number(latest);
  }
  return heads;
}

/** The newest change of each review. */
function newest<T extends Change>(changes: readonly T[]): Map<string, T> {
  const byId = new Map<string, T>();
  for (const change of changes) {
    if (change.version > (byId.get(change.id)?.version ?? 0)) byId.set(change.id, change);
  }
  return byId;
}

function toText({ id, version, isGone }: Change): string {
  return `${id} ${version}${isGone ? ' gone' : ''}`;
}

function toLogged({ sk, before, changes }: Item): Logged {
  return {
    at: Number(sk.slice(changesKey(0).sk.length)),
    before: Number(before),
    changes: (changes as string[]).map((text) => {
      const [id = '', version, gone] = text.split(' ');
      return { id, version: Number(version), isGone: gone !== undefined };
    }),
  };
}
