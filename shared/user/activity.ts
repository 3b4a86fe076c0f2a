import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { readCountsSince } from '../feed/totals.ts';
import { TableName, table } from '../table/client.ts';
import { userKey } from '../table/keys.ts';
import { limits, readBetween } from '../table/read-entries.ts';
import { daysAgo } from '../time.ts';
import { readDailyVotes } from '../vote/daily-votes.ts';

/**
 * How many reviews a user has published and votes cast, by UTC day: today, in the seven days that end today, and since the month
 * began. A vote counts on the day it was last cast. It costs the same however many there are.
 */
export async function readActivity(user_id: string): Promise<Record<string, number>> {
  const today = daysAgo(0);
  const since = {
    today,
    last_7_days: daysAgo(6),
    this_month: `${today.slice(0, 7)}-01`,
  };
  const days = Object.values(since);
  const [reviews, votes] = await Promise.all([
    countReviews(user_id, days),
    countVotes(user_id, days),
  ]);
  const names = Object.keys(since);
  return Object.fromEntries([
    ...names.map((name, i) => [`reviews_${name}`, reviews[i]]),
    ...names.map((name, i) => [`votes_${name}`, votes[i]]),
  ]);
}

/** The reviews published since each of these days. Few are read; how many there are of a long list its calendar tells. */
async function countReviews(user_id: string, days: readonly string[]): Promise<number[]> {
  const few = await readSince(user_id, days, limits.skipped + 1);
  if (few.length <= limits.skipped) return countSince(few, days);
  const Key = userKey(user_id);
  const { Item } = await table.send(new GetCommand({ TableName, Key }));
  if (Item?.calendar !== 'ready') {
    return countSince(await readSince(user_id, days, Number.MAX_SAFE_INTEGER), days);
  }
  return readCountsSince(
    Key.pk,
    days.map((day) => Date.parse(day)),
  );
}

/** The dates of the newest reviews since the earliest of these days. */
async function readSince(user_id: string, days: readonly string[], most: number) {
  const partition = { scope: 'author', value: user_id } as const;
  const sorting = { order: 'date', descending: true } as const;
  const bounds = { low: days.toSorted()[0] ?? '', high: '~' };
  const entries = await readBetween(partition, sorting, bounds, most);
  return entries.map(({ date = '' }) => date);
}

async function countVotes(user_id: string, days: readonly string[]): Promise<number[]> {
  const votes = await readDailyVotes(user_id, days.toSorted()[0] ?? '');
  return days.map((since) => {
    const counted = [...votes].filter(([day]) => day >= since);
    return counted.reduce((sum, [, votes]) => sum + votes, 0);
  });
}

function countSince(dates: readonly string[], days: readonly string[]): number[] {
  return days.map((day) => dates.filter((date) => date >= day).length);
}
