import { type ApiError, limitExceeded } from '../../base/errors.ts';
import { batchDelete } from '../../base/table/batch.ts';
import type { Item } from '../../base/table/item.ts';
import { collect, getItem, queryIndex, queryItems } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { daysAgo, epochSeconds } from '../../base/time.ts';
import { dailyVotesKey, userKey } from '../keys.ts';
import type { User } from './user.ts';
import { canModerate, userTypeOf } from './user-type.ts';
import { mayWrite } from './writer.ts';

// Counters of what a user did on a UTC day, and the limits on them.

/** Actions with a daily limit by karma: first votes on a review, and reports. */
type Limited = 'votes' | 'reports';

/** Actions whose daily limit the operator sets: new reviews, drafts included, and edits. */
type Writing = 'publications' | 'edits';

/** Days that daily counters are stored. Profile statistics cover a month. */
const keptDays = 31;
const daySeconds = 86_400;
/** Seconds after the start of its day. DynamoDB then deletes a counter that the job has missed. */
const keepCounters = (keptDays + 7) * daySeconds;

/** The counters of a day. */
const noActions = {
  /** Votes on reviews without one by this user, also where an earlier one was taken back. */
  count: 0,
  /** Votes last cast that day, which have no limit. */
  cast: 0,
  reports: 0,
  publications: 0,
  edits: 0,
  /** Names that a new account gave or proposed. Others have no limit of their own. */
  names: 0,
  renames: 0,
};

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

/** Limit of each writing unless the operator sets another. */
export const writingsPerDay = 200;

/**
 * Names that a new account may give or propose on a UTC day, and the days for which it is new. All
 * who search feel more of them, and moderators read each. A club adds ten films in an evening.
 */
const namesPerDay = 10;
const newDays = 7;

/** Changes of the own public name on a UTC day. More would only wear out readers and consumers. */
export const renamesPerDay = 20;

/** Returns the used part of a daily limit, from the day's counter if any. */
export function spentOf(what: Limited, counter: Item | undefined): number {
  return Number(counter?.[limited[what].spent] ?? 0);
}

/** Tells the rest of a daily limit (draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(
  what: Limited,
  user: Pick<User, 'karma' | 'blocked_at'>,
  spent: number,
): Record<string, string> {
  return headersOf(what, userTypeOf(user).votes_per_day, spent);
}

function headersOf(what: Limited | Writing | 'names' | 'renames', limit: number, spent: number) {
  return {
    'RateLimit-Policy': `"${what}";q=${limit};w=${daySeconds}`,
    RateLimit: `"${what}";r=${Math.max(0, limit - spent)};t=${secondsLeft()}`,
  };
}

/**
 * Returns the write of one daily vote or report, on the UTC day of `at` (ISO 8601). It fails with
 * ApiError 403 at the limit. The transaction also needs `ableAs`, because the limit depends on
 * karma. Karma only raises it: nobody who may write has less than a newcomer.
 */
export function spend(what: Limited, user: User, at: string): Write {
  const limit = userTypeOf(user).votes_per_day;
  const { spent, one } = limited[what];
  return {
    ...counted(user.id, at, one, { [spent]: limit }),
    otherwise: limitReached(what, user),
  };
}

/** Returns the error for a used up daily limit. */
export function limitReached(what: Limited, user: User): ApiError {
  const { votes_per_day: limit } = userTypeOf(user);
  const { may, hint } = limited[what];
  const message = `With your karma you may ${may} ${limit} reviews a day (UTC)${hint}`;
  return limitExceeded(message, {
    ...limitHeaders(what, user, limit),
    'Retry-After': `${secondsLeft()}`,
  });
}

/** Returns how many actions of this UTC day are left, from the day's counter if any. */
export function allowanceOf(what: Limited, user: User, counter: Item | undefined): number {
  return Math.max(0, userTypeOf(user).votes_per_day - spentOf(what, counter));
}

/**
 * Returns the write of one publication or edit, on this UTC day. It fails with ApiError 403 at the
 * limit. There is none if the operator has set no limit.
 */
export function spendWriting(what: Writing, userId: string): Write[] {
  const limit = limitOf(what);
  if (limit === 0) return [];
  const now = new Date().toISOString();
  return [
    { ...counted(userId, now, { [what]: 1 }, { [what]: limit }), otherwise: writingSpent(what) },
  ];
}

/**
 * Returns the write of one publication or edit that names something. An account of the last seven
 * days has a limit of names, at which it fails with ApiError 403 too. Moderators have none.
 */
export async function spendNaming(what: Writing, user: Namer): Promise<Write[]> {
  if (!hasNamesLimit(user)) return spendWriting(what, user.id);
  const limit = limitOf(what);
  const limits = { names: namesPerDay, ...(limit > 0 && { [what]: limit }) };
  const now = new Date().toISOString();
  // One update has one error. Both limits are seldom reached together.
  const counter = await getItem(dailyVotesKey(user.id, now.slice(0, 10)));
  const isWritingSpent = limit > 0 && Number(counter?.[what] ?? 0) >= limit;
  const otherwise = isWritingSpent ? writingSpent(what) : namesSpent();
  return [{ ...counted(user.id, now, { [what]: 1, names: 1 }, limits), otherwise }];
}

/**
 * Returns the write of one name in a file that a person brings. It counts as no publication or
 * edit, but has the limit of new accounts.
 */
export function spendBroughtName(user: Namer): Write[] {
  if (!hasNamesLimit(user)) return [];
  const now = new Date().toISOString();
  return [
    { ...counted(user.id, now, { names: 1 }, { names: namesPerDay }), otherwise: namesSpent() },
  ];
}

/** Is true for an account of the last seven days, unless it is a moderator's. */
function hasNamesLimit(user: Namer): boolean {
  const isNew = Date.parse(user.created) > Date.now() - newDays * daySeconds * 1000;
  return isNew && !canModerate(user);
}

/** Returns the write of one change of the public name. It fails with ApiError 403 at the limit. */
export function spendRename(userId: string): Write {
  const now = new Date().toISOString();
  const message = `You may change your public name ${renamesPerDay} times a day (UTC)`;
  return {
    ...counted(userId, now, { renames: 1 }, { renames: renamesPerDay }),
    otherwise: spentError('renames', renamesPerDay, message),
  };
}

/** An account that names something. */
export type Namer = Pick<User, 'id' | 'created' | 'is_moderator' | 'blocked_at'>;

function writingSpent(what: Writing): ApiError {
  return spentError(what, limitOf(what), messageOf(what, limitOf(what)));
}

function namesSpent(): ApiError {
  return spentError('names', namesPerDay, namesLimit);
}

const namesLimit = `In its first ${newDays} days an account may name ${namesPerDay} things a day (UTC)`;

/** Returns the sentence for the limit of names, if the account has it. */
export function namesLimitOf(user: Namer): string | undefined {
  return hasNamesLimit(user) ? namesLimit : undefined;
}

function spentError(what: Writing | 'names' | 'renames', limit: number, message: string): ApiError {
  const headers = { ...headersOf(what, limit, limit), 'Retry-After': `${secondsLeft()}` };
  return limitExceeded(message, headers);
}

/** Returns the sentence for a used up limit of this UTC day, or undefined if some of it is left. */
export async function findWritingObstacle(
  what: Writing,
  userId: string,
): Promise<string | undefined> {
  const limit = limitOf(what);
  if (limit === 0) return undefined;
  const counter = await getItem(dailyVotesKey(userId, daysAgo(0)));
  return Number(counter?.[what] ?? 0) < limit ? undefined : messageOf(what, limit);
}

function messageOf(what: Writing, limit: number): string {
  return what === 'publications'
    ? `An account may publish ${limit} reviews a day (UTC), drafts included`
    : `An account may make ${limit} edits a day (UTC)`;
}

/** Returns the operator's limit: 0 is no limit. */
function limitOf(what: Writing): number {
  const limit = what === 'edits' ? process.env.EDITS_PER_DAY : process.env.PUBLICATIONS_PER_DAY;
  return Number(limit ?? writingsPerDay);
}

/** Checks that the user may write and still has the karma of the daily limit. */
export function ableAs(user: User): Write {
  return {
    ConditionCheck: {
      Key: userKey(user.id),
      where: [...mayWrite, ['karma', '>=', userTypeOf(user).from]],
    },
  };
}

/** Adds to the counters of the UTC day of `at` (ISO 8601), if they are still stored. */
export function countIfKept(
  userId: string,
  at: string,
  amounts: Partial<typeof noActions>,
): Write[] {
  return at >= daysAgo(keptDays) ? [counted(userId, at, amounts)] : [];
}

/** Moves a repeated or withdrawn vote away from its day of cast, unless the day stays the same. */
export function moveCast(userId: string, from: string, to?: string): Write[] {
  if (from.slice(0, 10) === to?.slice(0, 10)) return [];
  const writes = countIfKept(userId, from, { cast: -1 });
  if (to !== undefined) writes.push(counted(userId, to, { cast: 1 }));
  return writes;
}

/** Counts actions on the UTC day of `at` (ISO 8601), if each limited counter is below its limit. */
function counted(
  userId: string,
  at: string,
  amounts: Partial<typeof noActions>,
  limits: Readonly<Record<string, number>> = {},
) {
  const day = at.slice(0, 10);
  return {
    Update: {
      Key: dailyVotesKey(userId, day),
      where: Object.entries(limits).map(([name, most]) => absentOr(name, '<', most)),
      amounts: { ...noActions, ...amounts },
      set: {
        expires_at: Date.parse(day) / 1000 + keepCounters,
        all: 'VOTES',
        date: `${day}#${userId}`,
      },
    },
  };
}

/** Reads all daily counters of a user, by UTC day (yyyy-mm-dd). They go back 31 days. */
export async function readDailyCounts(userId: string, options?: { consistent: boolean }) {
  const items = await collect(queryItems(dailyVotesKey(userId, ''), options));
  const names = Object.keys(noActions);
  return items.map((item) => {
    const amounts = Object.fromEntries(names.map((name) => [name, Number(item[name] ?? 0)]));
    return { day: item.sk.slice(dailyVotesKey('', '').sk.length), ...noActions, ...amounts };
  });
}

/**
 * In milliseconds: ten minutes, of the fifteen that a Lambda has. That is for over a million
 * counters. A larger service feels it by nothing but its bill: DynamoDB deletes the rest a week
 * later, and nobody reads it until then.
 */
const longestDeletion = 600_000;

/**
 * Deletes expired counters, a page at a time, for ten minutes at most. Returns their number, and
 * whether all are deleted. Safe to repeat.
 */
export async function deleteDailyCounts(): Promise<{ deleted: number; isWhole: boolean }> {
  const pages = queryIndex('all-by-date', 'VOTES', { range: { high: daysAgo(keptDays) } });
  const end = performance.now() + longestDeletion;
  let deleted = 0;
  for await (const entries of pages) {
    await batchDelete(entries);
    deleted += entries.length;
    if (performance.now() > end) return { deleted, isWhole: false };
  }
  return { deleted, isWhole: true };
}

/** Until the next UTC day. */
const secondsLeft = () => daySeconds - (epochSeconds() % daySeconds);
