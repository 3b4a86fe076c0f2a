// The desk of moderators: everything that waits for them is one queue, with a partition a kind.
import type { Entry } from '../../base/table/item.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { deskPartitions } from '../keys.ts';

/** Kind of what waits: reports, posts of new authors, appeals, corrections of names, new names. */
export type DeskKind = keyof typeof deskPartitions;

/** All kinds, in the order of the desk. */
export const deskKinds = Object.keys(deskPartitions) as DeskKind[];

/**
 * Largest number that is counted: 100 stands for 100 or more. A count costs half a unit a kind, and
 * 2.5 for one with 100. Only moderators and the operator's metrics feel it.
 */
const mostCounted = 100;

/** Counts what waits for moderators up to 100, for 2.5 to 12.5 read units in one round trip. */
export async function countWaiting(): Promise<number> {
  const counts = [...(await countByKind()).values()];
  return Math.min(
    mostCounted,
    counts.reduce((sum, count) => sum + count, 0),
  );
}

/** Counts what waits of each kind up to 100, as `countWaiting` does. */
export async function countByKind(): Promise<Map<DeskKind, number>> {
  const lists = await Promise.all(deskKinds.map((kind) => firstOf(kind, mostCounted)));
  return new Map(deskKinds.map((kind, i) => [kind, lists[i]?.length ?? 0]));
}

/** Returns the milliseconds that the oldest has waited, or undefined if nothing waits. */
export async function longestWait(): Promise<number | undefined> {
  const lists = await Promise.all(deskKinds.map((kind) => firstOf(kind, 1)));
  const times = lists.flat().map(waitsSince);
  return times.length > 0 ? Date.now() - Math.min(...times) : undefined;
}

/** Returns the time (epoch ms) since when the newest waits, or undefined if nothing waits. */
export async function newestWait(): Promise<number | undefined> {
  const lists = await Promise.all(deskKinds.map((kind) => firstOf(kind, 1, true)));
  const times = lists.flat().map(waitsSince);
  return times.length > 0 ? Math.max(...times) : undefined;
}

function firstOf(kind: DeskKind, most: number, descending = false) {
  const options = { pageSize: most, descending };
  return collect(queryIndex('all-by-date', deskPartitions[kind], options), most);
}

/** The date of an entry is the time since when it waits, and ids. */
const waitsSince = ({ date = '' }: Entry) => Date.parse(date.slice(0, date.indexOf('#')));
