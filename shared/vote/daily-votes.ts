import { batchDelete } from '../table/batch.ts';
import { dailyVotesKey } from '../table/keys.ts';
import { collect, queryIndex, queryItems } from '../table/query.ts';
import type { Write } from '../table/transact.ts';
import { daysAgo } from '../time.ts';
import { counted, countedOne, keptDays } from '../user/daily-limit.ts';
import type { Vote } from './vote.ts';

/** Moves a repeated or withdrawn vote away from its day of cast, unless the day stays the same. */
export function moveVote(before: Vote, after: Vote | undefined): Write[] {
  const [from, to] = [before.voted_at.slice(0, 10), after?.voted_at.slice(0, 10)];
  if (from === to) return [];
  const isKept = from >= daysAgo(keptDays);
  return [
    ...(isKept ? [counted(before.user_id, from, { cast: -1 })] : []),
    ...(to === undefined ? [] : [counted(before.user_id, to, { cast: 1 })]),
  ];
}

/** Counts an imported vote as a first vote of its UTC day, while counters of that day exist. */
export function countCast({ user_id, voted_at }: Vote): Write[] {
  return voted_at >= daysAgo(keptDays) ? [countedOne('votes', user_id, voted_at)] : [];
}

/**
 * Counts a user's votes by the UTC day (yyyy-mm-dd) of their last cast, since `first`. Counters go
 * back 31 days.
 */
export async function readDailyVotes(userId: string, first: string): Promise<Map<string, number>> {
  const items = await collect(queryItems(dailyVotesKey(userId, ''), { consistent: false }));
  const days = items.map(({ sk, cast }): [string, number] => [
    sk.slice(dailyVotesKey('', '').sk.length),
    Number(cast),
  ]);
  return new Map(days.filter(([day]) => day >= first));
}

/** Deletes expired counters, a page at a time; returns their number. Safe to repeat. */
export async function deleteDailyVotes(): Promise<number> {
  const pages = queryIndex('all-by-date', 'VOTES', { range: { high: daysAgo(keptDays) } });
  let deleted = 0;
  for await (const entries of pages) {
    await batchDelete(entries);
    deleted += entries.length;
  }
  return deleted;
}
