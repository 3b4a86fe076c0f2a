import * as v from 'valibot';
import { chunks } from '../../base/chunks.ts';
import type { Item } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import { collect, getItem, queryItems } from '../../base/table/query.ts';
import { putNew, retryStale, transact } from '../../base/table/transact.ts';
import type { LogCursor } from './cursor.ts';
import { changesKey, changesLanes, epochKey, laneKey } from './kinds.ts';
import { distinct, formatChanges, type LoggedChange, parseChanges } from './logged-change.ts';

// The change log: lanes of items that name the public reviews that were written, in order.

/** Seconds for which log items are kept: a day longer than a cursor is valid. */
const keptSeconds = 31 * 86_400;

/** Maximum of changes in an item, about 2.5 KB. */
const changesPerItem = 20;

/** An item of the log as stored. */
const StoredItem = v.object({
  sk: v.string(),
  /** Time of the item before it in the lane (epoch ms), or 0. */
  before: v.number(),
  changes: v.array(v.string()),
  kinds: v.optional(v.string()),
  about: v.optional(v.array(v.string())),
});

/** An item of the log. Times are epoch ms. */
interface LogItem {
  /** Time of logging, which rises within a lane. */
  at: number;
  before: number;
  changes: LoggedChange[];
}

/**
 * Logs changes for mirrors and webhooks, at least once: repeated stream records are logged again.
 * In each lane, an item names the time of the item before it. The same transaction points the head
 * of the lane to the last item. A reader therefore never skips an item that appears later.
 */
export async function logChanges(changes: readonly LoggedChange[]): Promise<void> {
  const byLane = [...Map.groupBy(changes, ({ id }) => laneOf(id))];
  await Promise.all(byLane.map(([lane, some]) => retryStale(() => append(lane, distinct(some)))));
}

/** Returns the lane of a review or person. All changes of one are in one lane. */
export function laneOf(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16) % changesLanes;
}

async function append(lane: number, changes: readonly LoggedChange[]): Promise<void> {
  const head = await getItem(laneKey(lane));
  let latest = Number(head?.latest ?? 0);
  const items: object[] = [];
  for (const some of chunks(changes, changesPerItem)) {
    const before = latest;
    // Also above every time before a restore, whatever the restored table holds.
    latest = Math.max(Date.now(), before + 1);
    const expires_at = Math.floor(latest / 1000) + keptSeconds;
    items.push({ ...changesKey(lane, latest), before, ...formatChanges(some), expires_at });
  }
  await transact([
    { Update: { Key: laneKey(lane), set: { latest }, was: { latest: head?.latest } } },
    ...items.map(putNew),
  ]);
}

/**
 * Reads the items of a lane after a time, in pages of at most 500 changes. A replica may still lack
 * the last items.
 */
export async function* readLog(lane: number, time: number): AsyncGenerator<LogItem[]> {
  const after = changesKey(lane, time).sk;
  const pages = queryItems(changesKey(lane, ''), { after, pageSize: 25, consistent: false });
  for await (const items of pages) yield items.flatMap(toLogItem);
}

/** Finds a logged change by its subject's id and its time of logging. */
export async function findChanges(id: string, at: number): Promise<LoggedChange[]> {
  const item = await getItem(changesKey(laneOf(id), at), { consistent: false });
  const [found] = item ? toLogItem(item) : [];
  return found?.changes.filter((change) => change.id === id) ?? [];
}

/** An item that cannot be read counts as missing, except for its place in the chain. */
function toLogItem(item: Item): LogItem[] {
  const at = Number(item.sk.slice(changesKey(0, '').sk.length));
  const stored = parseItem(StoredItem, item);
  if (stored) return [{ at, before: stored.before, changes: parseChanges(stored) }];
  return [{ at, before: Number(item.before), changes: [] }];
}

/** Finds the cursor before everything that was logged at `time` (epoch ms) or later. */
export async function findCursor(time: number): Promise<LogCursor> {
  // First, because a change may be logged meanwhile.
  const { lanes, ...others } = await readLogEnd();
  const before = await Promise.all(
    lanes.map(async (head, lane) => {
      const after = changesKey(lane, time - 1).sk;
      const [next] = await collect(queryItems(changesKey(lane, ''), { after, pageSize: 1 }), 1);
      return next ? Number(next.before) : head;
    }),
  );
  return { ...others, lanes: before };
}

/** Reads the cursor after everything logged. */
export async function readLogEnd(): Promise<LogCursor> {
  const lanes = Array.from({ length: changesLanes }, () => 0);
  let epoch: number | undefined;
  const items = queryItems(epochKey, { until: `${laneKey('').sk}~` });
  for (const { sk, latest, began } of await collect(items)) {
    if (sk === epochKey.sk) epoch = Number(began);
    else lanes[Number(sk.slice(laneKey('').sk.length))] = Number(latest);
  }
  return epoch === undefined ? { lanes } : { lanes, epoch };
}

/**
 * Begins another epoch of the log, because the table is an older copy. All earlier cursors become
 * invalid: mirrors get 410, and receivers of webhooks `log.restarted`.
 */
export async function beginEpoch(): Promise<{ epoch: string }> {
  const began = Date.now();
  await transact([{ Update: { Key: epochKey, set: { began } } }]);
  return { epoch: new Date(began).toISOString() };
}
