// The desk of moderators: everything that waits for them is one queue, with a partition a kind.
import { deskPartitions } from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';

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
  const lists = await Promise.all(deskKinds.map((kind) => firstOf(kind, mostCounted)));
  return Math.min(mostCounted, lists.flat().length);
}

/** Returns the milliseconds that the oldest has waited, or undefined if nothing waits. */
export async function longestWait(): Promise<number | undefined> {
  const lists = await Promise.all(deskKinds.map((kind) => firstOf(kind, 1)));
  // The time since when it waits, and ids.
  const times = lists.flat().map(({ date = '' }) => Date.parse(date.slice(0, date.indexOf('#'))));
  return times.length > 0 ? Date.now() - Math.min(...times) : undefined;
}

function firstOf(kind: DeskKind, most: number) {
  return collect(queryIndex('all-by-date', deskPartitions[kind], { pageSize: most }), most);
}
