import { limitExceeded } from '../errors.ts';
import type { Item } from '../table/item.ts';
import { dailyVotesKey, userKey } from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';
import type { User } from './user.ts';
import { userTypeOf } from './user-type.ts';
import { mayWrite } from './writer.ts';

/** Acts with a daily limit: first votes on a review, and reports. */
type Limited = 'votes' | 'reports';

/**
 * Days that the counters of a day are kept for: the statistics of a profile reach back for a month.
 */
export const keptDays = 31;
const daySeconds = 86_400;

/**
 * Seconds from the start of its day until DynamoDB may delete a counter that the daily job has
 * missed.
 */
const keepCounters = (keptDays + 7) * daySeconds;

/**
 * Counter of a user and UTC day: `count`, the first votes on a review; `cast`, how many of the
 * user's votes were last cast on that day; `reports`. The daily limit is held against the first and
 * the last of them.
 */
const none = { count: 0, cast: 0, reports: 0 };
type Counts = typeof none;

/** The counter that a limit is held against, what one of it adds, and how the limit is told. */
const limited = {
  votes: {
    spent: 'count',
    one: { count: 1, cast: 1 },
    may: 'vote on',
    besides: '; changing a vote is always possible',
  },
  reports: { spent: 'reports', one: { reports: 1 }, may: 'report', besides: '' },
} as const;

/** Number of a daily limit that is used up, by the counter of the day if there is one. */
export function spentOf(what: Limited, counter: Item | undefined): number {
  return Number(counter?.[limited[what].spent] ?? 0);
}

/**
 * Tells what is left of a daily limit, as headers (draft-ietf-httpapi-ratelimit-headers): `spent`
 * of this UTC day are used up.
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
 * Takes one of the user's daily votes or reports, of the UTC day of a time (ISO 8601). It fails
 * where all are used up. Throws ApiError 403 when there are none at all. The transaction needs
 * `ableAs` as well, because the limit follows the karma.
 */
export function spend(what: Limited, user: User, at: string): Write {
  const { label, votes_per_day: limit } = userTypeOf(user);
  const { spent, may, besides } = limited[what];
  const otherwise = limitExceeded(
    `A user of type ${label} may ${may} ${limit} reviews a day (UTC)${besides}`,
    {
      ...limitHeaders(what, user, limit),
      // Who has none at all has none tomorrow.
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

/** The user may still write, and still has the karma that the daily limit was taken from. */
export function ableAs(user: User): Write {
  return {
    ConditionCheck: {
      Key: userKey(user.id),
      ConditionExpression: `${mayWrite} AND karma >= :from`,
      ExpressionAttributeValues: { ':from': userTypeOf(user).from },
    },
  };
}

/** Counts a first vote or a report on the UTC day of a time (ISO 8601). */
export function countedOne(what: Limited, userId: string, at: string) {
  return counted(userId, at.slice(0, 10), limited[what].one);
}

/** Adds to the counter of a user and UTC day, yyyy-mm-dd. */
export function counted(userId: string, day: string, amounts: Partial<Counts>) {
  const set = {
    expires_at: Date.parse(day) / 1000 + keepCounters,
    all: 'VOTES',
    date: `${day}#${userId}`,
  };
  return { Update: { Key: dailyVotesKey(userId, day), amounts: { ...none, ...amounts }, set } };
}

/** Seconds until the next UTC day. */
function secondsLeft(): number {
  return daySeconds - (epochSeconds() % daySeconds);
}
