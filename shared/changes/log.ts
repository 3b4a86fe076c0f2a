import type { DynamoDBRecord } from 'aws-lambda';
import { chunks } from '../chunks.ts';
import { changesKey, changesLanes, idIn, laneKey, reviewKey } from '../table/keys.ts';
import { collect, getItem, queryItems } from '../table/query.ts';
import { putNew, retryStale, transact } from '../table/transact.ts';

// The change log: lanes of items that name the public reviews that were written, in order.

/**
 * Kinds of changes, the weightiest first. `published` is also a restored review. `voted` is every
 * change of anything but the content, such as a vote or a dismissed report.
 */
export const changeKinds = ['removed', 'published', 'edited', 'voted'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** A write of a public review, or its end as a public review. */
export interface LoggedChange {
  id: string;
  /** Version of the review after the write. */
  version: number;
  kind: ChangeKind;
}

/** Seconds for which log items are kept: a day longer than a position is valid. */
const keptSeconds = 31 * 86_400;

/** Maximum of changes in an item, about 1 KB. An item with one change costs the same. */
const changesPerItem = 20;

/** Returns the writes, in stream records, of reviews that were public before or after. */
export function changesIn(records: readonly DynamoDBRecord[]): LoggedChange[] {
  return records.flatMap(({ dynamodb = {} }) => {
    const { Keys, OldImage, NewImage } = dynamodb;
    if (Keys?.sk?.S !== reviewKey('').sk) return [];
    const kind = kindOf(OldImage, NewImage);
    if (!kind) return [];
    const version = NewImage ? Number(NewImage.version?.N) : Number(OldImage?.version?.N) + 1;
    return [{ id: idIn({ pk: `${Keys.pk?.S}` }), version, kind }];
  });
}

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

function kindOf(before: Image, after: Image): ChangeKind | undefined {
  // An upgrade writes index attributes again, and nothing that a reader sees.
  if (before?.version?.N !== undefined && before.version.N === after?.version?.N) return undefined;
  const wasPublic = before?.all?.S !== undefined;
  const isPublic = after?.all?.S !== undefined;
  if (!isPublic) return wasPublic ? 'removed' : undefined;
  if (!wasPublic) return 'published';
  return before.edits?.N === after.edits?.N ? 'voted' : 'edited';
}

/**
 * Folds two changes of a review into one, of the higher version. A review that was published again
 * is not removed, so a removal counts only if it is the newest change.
 */
export function foldChanges(one: LoggedChange, other: LoggedChange): LoggedChange {
  const newest = other.version > one.version ? other : one;
  if (newest.kind === 'removed') return newest;
  const kinds = [one.kind, other.kind];
  const kind = changeKinds.find((each) => each !== 'removed' && kinds.includes(each));
  return { ...newest, kind: kind ?? newest.kind };
}

/**
 * Logs changes for mirrors, at least once: repeated stream records are logged again. In each lane,
 * an item names the place of the item before it. The same transaction points the head of the lane
 * to the last item. A reader therefore never skips an item that appears later.
 */
export async function logChanges(changes: readonly LoggedChange[]): Promise<void> {
  const laneOf = ({ id }: LoggedChange) => Number.parseInt(id.slice(0, 8), 16) % changesLanes;
  const byLane = [...Map.groupBy(changes, laneOf)];
  await Promise.all(byLane.map(([lane, some]) => retryStale(() => append(lane, folded(some)))));
}

async function append(lane: number, changes: readonly LoggedChange[]): Promise<void> {
  const head = await getItem(laneKey(lane));
  let latest = Number(head?.latest ?? 0);
  const items: object[] = [];
  for (const some of chunks(changes, changesPerItem)) {
    const before = latest;
    latest = Math.max(Date.now(), before + 1);
    items.push({
      ...changesKey(lane, latest),
      before,
      changes: some.map(formatChange),
      kinds: some.map(({ kind }) => letters[kind]).join(''),
      expires_at: Math.floor(latest / 1000) + keptSeconds,
    });
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
): AsyncGenerator<{ at: number; before: number; changes: LoggedChange[] }[]> {
  const after = changesKey(lane, place).sk;
  const pages = queryItems(changesKey(lane), { after, pageSize: 25, consistent: false });
  for await (const items of pages) {
    yield items.map(({ sk, before, changes, kinds = '' }) => ({
      at: Number(sk.slice(changesKey(0).sk.length)),
      before: Number(before),
      changes: (changes as string[]).map((text, i) => parseChange(text, `${kinds}`[i])),
    }));
  }
}

/** Finds the place in each lane before everything that was logged at `time` (epoch ms) or later. */
export async function findPlaces(time: number): Promise<number[]> {
  // First, because a change may be logged meanwhile.
  const heads = await readHeads();
  return Promise.all(
    heads.map(async (head, lane) => {
      const after = changesKey(lane, time - 1).sk;
      const [next] = await collect(queryItems(changesKey(lane), { after, pageSize: 1 }), 1);
      return next ? Number(next.before) : head;
    }),
  );
}

/** Reads the place of the last item of each lane. */
export async function readHeads(): Promise<number[]> {
  const heads = Array.from({ length: changesLanes }, () => 0);
  for (const { sk, latest } of await collect(queryItems(laneKey()))) {
    heads[Number(sk.slice(laneKey().sk.length))] = Number(latest);
  }
  return heads;
}

function folded(changes: readonly LoggedChange[]): LoggedChange[] {
  const byId = Map.groupBy(changes, ({ id }) => id);
  return [...byId.values()].map((some) => some.reduce(foldChanges));
}

/** Kinds as stored, beside the changes: older code takes any word after a version for `gone`. */
const letters = { removed: 'r', published: 'p', edited: 'e', voted: 'v' } as const;

function formatChange({ id, version, kind }: LoggedChange): string {
  return `${id} ${version}${kind === 'removed' ? ' gone' : ''}`;
}

/** A change without a letter is from older code. It counts as an edit, as every receiver takes. */
function parseChange(text: string, letter: string | undefined): LoggedChange {
  const [id = '', version, gone] = text.split(' ');
  const kind = changeKinds.find((each) => letters[each] === letter) ?? 'edited';
  return { id, version: Number(version), kind: gone === undefined ? kind : 'removed' };
}
