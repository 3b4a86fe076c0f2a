import type { DynamoDBRecord } from 'aws-lambda';
import { chunks } from '../chunks.ts';
import { changesKey, changesLanes, idIn, laneKey, reviewKey } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import { putNew, retryStale, transact } from '../table/transact.ts';

/** A write of a public review, or its end as a public review. */
export interface Change {
  id: string;
  /** Version of the review after the write. */
  version: number;
  isGone: boolean;
}

/** Seconds for which log items are kept: a day longer than a position is valid. */
const keptSeconds = 31 * 86_400;

/** Maximum of changes in an item, about 1 KB. An item with one change costs the same. */
const changesPerItem = 20;

/** Returns the writes, in stream records, of reviews that were public before or after. */
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
 * Logs changes for mirrors, at least once: repeated stream records are logged again. In each lane,
 * an item names the place of the item before it. The same transaction points the head of the lane
 * to the last item. A reader therefore never skips an item that appears later.
 */
export async function logChanges(changes: readonly Change[]): Promise<void> {
  const laneOf = ({ id }: Change) => Number.parseInt(id.slice(0, 8), 16) % changesLanes;
  const byLane = [...Map.groupBy(changes, laneOf)];
  await Promise.all(byLane.map(([lane, some]) => retryStale(() => append(lane, newest(some)))));
}

async function append(lane: number, changes: readonly Change[]): Promise<void> {
  const head = await getItem(laneKey(lane));
  let latest = Number(head?.latest ?? 0);
  const items: object[] = [];
  for (const some of chunks(changes, changesPerItem)) {
    const before = latest;
    latest = Math.max(Date.now(), before + 1);
    const expires_at = Math.floor(latest / 1000) + keptSeconds;
    const logged = { before, changes: some.map(formatChange), expires_at };
    items.push({ ...changesKey(lane, latest), ...logged });
  }
  await transact([
    { Update: { Key: laneKey(lane), set: { latest }, was: { latest: head?.latest } } },
    ...items.map(putNew),
  ]);
}

/**
 * Reads the items of a lane after a place, in pages of at most 500 changes. Places are times of
 * logging (epoch ms): `at` of the item, and `before` of the item before it, or 0. A replica may
 * still lack the last items.
 */
export async function* readLog(
  lane: number,
  place: number,
): AsyncGenerator<{ at: number; before: number; changes: Change[] }[]> {
  const { sk: after } = changesKey(lane, place);
  const query = { after, pageSize: 25, consistent: false };
  for await (const items of queryItems(changesKey(lane), query)) {
    yield items.map(({ sk, before, changes }) => ({
      at: Number(sk.slice(changesKey(0).sk.length)),
      before: Number(before),
      changes: (changes as string[]).map(parseChange),
    }));
  }
}

/** Reads the place of the last item of each lane. */
export async function readHeads(): Promise<number[]> {
  const heads = Array.from({ length: changesLanes }, () => 0);
  for (const { sk, latest } of await collect(queryItems(laneKey()))) {
    heads[Number(sk.slice(laneKey().sk.length))] = Number(latest);
  }
  return heads;
}

function newest(changes: readonly Change[]): Change[] {
  const byId = Map.groupBy(changes, ({ id }) => id);
  return [...byId.values()].map((some) => some.reduce((a, b) => (b.version > a.version ? b : a)));
}

function formatChange({ id, version, isGone }: Change): string {
  return `${id} ${version}${isGone ? ' gone' : ''}`;
}

function parseChange(text: string): Change {
  const [id = '', version, gone] = text.split(' ');
  return { id, version: Number(version), isGone: gone !== undefined };
}
