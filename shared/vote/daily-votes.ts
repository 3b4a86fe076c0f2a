import { batchDelete } from '../table/batch.ts';
import { dailyVotesKey } from '../table/keys.ts';
import { collect, queryIndex, queryItems } from '../table/query.ts';
import type { Write } from '../table/transact.ts';
import { daysAgo } from '../time.ts';
import { counted, keptDays } from '../user/daily-limit.ts';
import type { Vote } from './vote.ts';

/** Moves a vote that is cast again, or taken back, from the day it was cast on; nothing while that is the same day. */
export function moveVote(before: Vote, after: Vote | undefined): Write[] {
  const [from, to] = [before.voted_at.slice(0, 10), after?.voted_at.slice(0, 10)];
  if (from === to) return [];
  const isKept = from >= daysAgo(keptDays);
  return [
    ...(isKept ? [counted(before.user_id, from, { cast: -1 })] : []),
    ...(to === undefined ? [] : [counted(before.user_id, to, { cast: 1 })]),
  ];
}

/** Counts votes that came from elsewhere, as first votes of the UTC day they were cast on; nothing once such a day is no longer counted. */
export function countCast(userId: string, day: string, votes: number): Write[] {
  return day >= daysAgo(keptDays) ? [counted(userId, day, { count: votes, cast: votes })] : [];
}

/** How many of a user's votes were cast on each UTC day (yyyy-mm-dd) from `first` on, at most 31 days back. */
export async function readDailyVotes(userId: string, first: string): Promise<Map<string, number>> {
  const items = await collect(queryItems(dailyVotesKey(userId, ''), { consistent: false }));
  const days = items.map(({ sk, cast }): [string, number] => [
    sk.slice(dailyVotesKey('', '').sk.length),
    Number(cast),
  ]);
  return new Map(days.filter(([day]) => day >= first));
}

/** Deletes the counters that nothing reads any more, a page at a time; gives how many. Safe to repeat. */
export async function deleteDailyVotes(): Promise<number> {
  const pages = queryIndex('all-by-date', 'VOTES', { range: { high: daysAgo(keptDays) } });
  let deleted = 0;
  for await (const entries of pages) {
    await batchDelete(entries);
    deleted += entries.length;
  }
  return deleted;
}
