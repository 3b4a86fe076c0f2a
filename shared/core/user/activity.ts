// Statistics of a profile: reviews and votes by day.
import { leafCapacity } from '../../base/list/rank-tree.ts';
import { readCountsSince } from '../../base/list/totals.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { daysAgo } from '../../base/time.ts';
import { countsKey } from '../keys.ts';
import { readDailyCounts } from './daily-limit.ts';
import type { Activity } from './presented.ts';

/** Counts reviews and votes by UTC day. A vote counts when last cast. The cost is constant. */
export async function readActivity(userId: string): Promise<Activity> {
  const today = daysAgo(0);
  const days = [today, daysAgo(6), `${today.slice(0, 7)}-01`];
  const [reviews, votes] = await Promise.all([
    countReviews(userId, days),
    countVotes(userId, days),
  ]);
  const [reviews_today = 0, reviews_last_7_days = 0, reviews_this_month = 0] = reviews;
  const [votes_today = 0, votes_last_7_days = 0, votes_this_month = 0] = votes;
  return {
    reviews_today,
    reviews_last_7_days,
    reviews_this_month,
    votes_today,
    votes_last_7_days,
    votes_this_month,
  };
}

/** Counts reviews since each day: a short list by reading, a long one by its rank tree. */
async function countReviews(userId: string, days: readonly string[]) {
  const few = await readSince(userId, days, leafCapacity + 1);
  if (few.length <= leafCapacity) return countSince(few, days);
  const owner = countsKey(userId);
  const item = await getItem(owner, { consistent: false });
  if (item?.rank_tree !== 'ready') return countSince(await readSince(userId, days), days);
  return readCountsSince(owner.pk, days.map(Date.parse));
}

async function readSince(userId: string, days: readonly string[], most?: number) {
  const pages = queryIndex('author-by-date', userId, {
    descending: true,
    range: { low: days.toSorted()[0] },
    pageSize: leafCapacity + 1,
  });
  return (await collect(pages, most)).map(({ date = '' }) => date);
}

async function countVotes(userId: string, days: readonly string[]) {
  const votes = await readDailyCounts(userId, { consistent: false });
  return days.map((since) => {
    const recent = votes.filter(({ day }) => day >= since);
    return recent.reduce((sum, { cast }) => sum + cast, 0);
  });
}

function countSince(dates: readonly string[], days: readonly string[]) {
  return days.map((day) => dates.filter((date) => date >= day).length);
}
