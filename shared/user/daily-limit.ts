import { limitExceeded } from '../errors.ts';
import type { Item } from '../table/item.ts';
import { dailyVotesKey, userKey } from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';
import type { User } from './user.ts';
import { userTypeOf } from './user-type.ts';
import { mayWrite } from './writer.ts';

/** Actions with a daily limit: first votes on a review, and reports. */
type Limited = 'votes' | 'reports';

/** Days that daily counters are stored. Profile statistics cover a month. */
export const keptDays = 31;
const daySeconds = 86_400;

/**
 * Seconds after the start of its day. DynamoDB may then delete a counter that the job has missed.
 */
const keepCounters = (keptDays + 7) * daySeconds;

/**
 * Counters of a user and UTC day. `count` is for first votes on a review, `cast` for votes last
 * cast that day. Only `count` and `reports` have a limit.
 */
const none = { count: 0, cast: 0, reports: 0 };
type Counts = typeof none;

/** The limited counter, the amounts of one action, and words for the error message. */
const limited = {
  votes: {
    spent: 'count',
    one: { count: 1, cast: 1 },
    may: 'vote on',
    hint: '; changing a vote is always possible',
  },
  reports: { spent: 'reports', one: { reports: 1 }, may: 'report', hint: '' },
} as const;

/** Returns the used part of a daily limit, from the day's counter if any. */
export function spentOf(what: Limited, counter: Item | undefined): number {
  return Number(counter?.[limited[what].spent] ?? 0);
}

/**
 * Returns headers that tell the rest of a daily limit (draft-ietf-httpapi-ratelimit-headers).
 * `spent` votes or reports are used.
 */
export function limitHeaders(
  what: Limited,
  user: Pick<User, 'karma' | 'blocked_at'>,
  spent: number,
): Record<string, string> {
  const { votes_per_day: limit } = userTypeOf(user);
  return {
    'RateLimit-Policy': `"${what}";q=${limit};w=${daySeconds}`,
    RateLimit: `"${what}";r=${Math.max(0, limit - spent)};t=${secondsLeft()}`,
  };
}

/**
 * Returns the write that uses one daily vote or report, on the UTC day of `at` (ISO 8601). It fails
 * if the limit is reached. Throws ApiError 403 if the limit is 0. The transaction also needs
 * `ableAs`, because the limit depends on karma.
 */
export function spend(what: Limited, user: User, at: string): Write {
  const { label, votes_per_day: limit } = userTypeOf(user);
  const { spent, may, hint } = limited[what];
  const otherwise = limitExceeded(
    `A user of type ${label} may ${may} ${limit} reviews a day (UTC)${hint}`,
    {
      ...limitHeaders(what, user, limit),
      // With a limit of 0, waiting does not help.
      ...(limit > 0 && { 'Retry-After': `${secondsLeft()}` }),
    },
  );
  if (limit === 0) throw otherwise;
  return {
    Update: {
      ...countedOne(what, user.id, at).Update,
      ConditionExpression: 'attribute_not_exists(#spent) OR #spent < :limit',
      ExpressionAttributeNames: { '#spent': spent },
      ExpressionAttributeValues: { ':limit': limit },
    },
    otherwise,
  };
}

/** Checks that the user may write and still has the karma of the daily limit. */
export function ableAs(user: User): Write {
  return {
    ConditionCheck: {
      Key: userKey(user.id),
      ConditionExpression: `${mayWrite} AND karma >= :from`,
      ExpressionAttributeValues: { ':from': userTypeOf(user).from },
    },
  };
}

/** Counts a first vote or a report on the UTC day of `at` (ISO 8601). */
export function countedOne(what: Limited, userId: string, at: string) {
  return counted(userId, at.slice(0, 10), limited[what].one);
}

/** Adds to the counters of a user and UTC day, yyyy-mm-dd. */
export function counted(userId: string, day: string, amounts: Partial<Counts>) {
  const set = {
    expires_at: Date.parse(day) / 1000 + keepCounters,
    all: 'VOTES',
    date: `${day}#${userId}`,
  };
  return { Update: { Key: dailyVotesKey(userId, day), amounts: { ...none, ...amounts }, set } };
}

/** Returns the seconds until the next UTC day. */
function secondsLeft(): number {
  return daySeconds - (epochSeconds() % daySeconds);
}
