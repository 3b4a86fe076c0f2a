import { limitExceeded } from '../errors.ts';
import { batchWrite } from '../table/batch.ts';
import { dailyVotesKey } from '../table/keys.ts';
import { collect, queryIndex, queryItems } from '../table/query.ts';
import { add, type Write } from '../table/transact.ts';
import { daysAgo } from '../time.ts';
import type { User } from '../user/user.ts';
import { userTypeOf } from '../user/user-type.ts';
import type { Vote } from './vote.ts';

/**
 * A counter of a user and UTC day holds `count`, the first votes on a review that the daily limit is held against, and `cast`, how many of the
 * user's votes were last cast on that day. The statistics of a profile reach back for a month, so that it is kept for 31 days.
 */
const keptDays = 31;
const daySeconds = 86_400;

/** Seconds from the start of its day until DynamoDB may delete a counter that the daily job has missed. */
const keepCounters = (keptDays + 7) * daySeconds;

/**
 * What a voter is told of the daily limit, as headers (draft-ietf-httpapi-ratelimit-headers): `spent` of the first votes of this UTC day are
 * used up.
 */
export function limitHeaders(voter: Pick<User, 'karma' | 'blocked_at'>, spent: number) {
  const { votes_per_day } = userTypeOf(voter);
  const left = Math.max(0, votes_per_day - spent);
  return {
    'RateLimit-Policy': `"votes";q=${votes_per_day};w=${daySeconds}`,
    RateLimit: `"votes";r=${left};t=${secondsLeft()}`,
  };
}

/** Takes one of the voter's first votes of the UTC day in which it is cast. Throws ApiError 403 when there are none at all. */
export function spendVote(voter: User, votedAt: string): Write {
  const { label, votes_per_day } = userTypeOf(voter);
  const otherwise = limitExceeded(
    `A user of type ${label} may vote on ${votes_per_day} reviews a day (UTC); changing a vote is always possible`,
    {
      ...limitHeaders(voter, votes_per_day),
      // Who has none at all has none tomorrow.
      ...(votes_per_day > 0 && { 'Retry-After': `${secondsLeft()}` }),
    },
  );
  if (votes_per_day === 0) throw otherwise;
  const { Update } = counted(voter.id, votedAt.slice(0, 10), { count: 1, cast: 1 });
  return {
    Update: {
      ...Update,
      ConditionExpression: 'attribute_not_exists(#add0) OR #add0 < :limit',
      ExpressionAttributeValues: { ...Update.ExpressionAttributeValues, ':limit': votes_per_day },
    },
    otherwise,
  };
}

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
    await batchWrite(entries.map(({ pk, sk }) => ({ delete: { pk, sk } })));
    deleted += entries.length;
  }
  return deleted;
}

/** Seconds until the next UTC day. */
function secondsLeft(): number {
  return daySeconds - (Math.floor(Date.now() / 1000) % daySeconds);
}

function counted(userId: string, day: string, amounts: Record<string, number>) {
  const update = add(dailyVotesKey(userId, day), amounts, {
    ExpressionAttributeNames: { '#all': 'all', '#date': 'date' },
    ExpressionAttributeValues: {
      ':all': 'VOTES',
      ':date': `${day}#${userId}`,
      ':expires_at': Date.parse(day) / 1000 + keepCounters,
    },
  });
  const setting = 'SET expires_at = :expires_at, #all = :all, #date = :date';
  return { Update: { ...update, UpdateExpression: `${update.UpdateExpression} ${setting}` } };
}
