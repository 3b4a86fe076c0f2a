import type { DynamoDBRecord } from 'aws-lambda';
import { chunks } from '../chunks.ts';
import type { Item } from '../table/item.ts';
import { changesKey, changesLanes, idIn, laneKey, reviewKey } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import { putNew, retryStale, transact } from '../table/transact.ts';

/** That a public review was written, or is public no more. */
export interface Change {
  id: string;
  /** That of the item after the write: it rises with every one. */
  version: number;
  isGone: boolean;
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

/** Changes in an item, about 1 KB: one alone costs as much. */
const mostTogether = 20;

function laneOf(reviewId: string): number {
  return Number.parseInt(reviewId.slice(0, 8), 16) % changesLanes;
}

/** What records of the table's stream say of public reviews. What is a draft or hidden before and after is nobody's business. */
export function changesIn(records: readonly DynamoDBRecord[]): Change[] {
  return records.flatMap(({ dynamodb = {} }) => {
    const { Keys, OldImage, NewImage } = dynamodb;
    if (Keys?.sk?.S !== reviewKey('').sk) return [];
    const isPublic = NewImage?.all?.S !== undefined;
    if (!isPublic && OldImage?.all?.S === undefined) return [];
    const version = NewImage ? Number(NewImage.version?.N) : Number(OldImage?.version?.N) + 1;
    const id = idIn({ pk: `${Keys.pk?.S}` });
    return [{ id, version, isGone: !isPublic }];
  });
}

/**
 * Logs changes for those who follow them, at least once: what the stream tells again is logged
 * again. Each lane is a chain: an item names the place of the one before it. The head of the lane
 * names the last, in the same transaction. A reader therefore never passes an item that is still to
 * appear.
 */
export async function logChanges(changes: readonly Change[]): Promise<void> {
  const byLane = Map.groupBy(changes, ({ id }) => laneOf(id));
  await Promise.all(
    [...byLane].map(([lane, some]) => retryStale(() => append(lane, newest(some)))),
  );
}

async function append(lane: number, changes: readonly Change[]): Promise<void> {
  const head = await getItem(laneKey(lane));
  const last = Number(head?.latest ?? 0);
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
    { Update: { Key: laneKey(lane), set: { latest }, was: { latest: head?.latest } } },
    ...items.map(putNew),
  ]);
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

function newest(changes: readonly Change[]): Change[] {
  const byId = new Map<string, Change>();
  for (const change of changes) {
    if (change.version > (byId.get(change.id)?.version ?? 0)) byId.set(change.id, change);
  }
  return [...byId.values()];
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
