import * as v from 'valibot';
import { invalidRequest, invalidToken, notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import { findItem, parseItems } from '../../base/table/parse.ts';
import { collect, queryIndex, queryItems } from '../../base/table/query.ts';
import { putNew, retryStale, transact, type Write } from '../../base/table/transact.ts';
import { caseKey, dailyVotesKey, deskPartitions, reportKey, reviewKey, userKey } from '../keys.ts';
import {
  type Carried,
  Case,
  countReport,
  countReports,
  newCase,
  Report,
  replaceCase,
} from '../review/case.ts';
import { isPublic, Review } from '../review/review.ts';
import { countedAs, type Reason, reasons } from '../review/verdict.ts';
import { ableAs, limitHeaders, spend, spentOf } from '../user/daily-limit.ts';
import { parseUser, whereAlive } from '../user/user.ts';
import { refuseBlocked } from '../user/writer.ts';
import { readCases } from './case-repository.ts';

/**
 * Stores a report and puts the review into the moderation queue, unless it is repeated. `also` is
 * written with it. Returns headers with the rest of the daily limit. Throws ApiError 400 for an own
 * review, 404 if it is not public, 401 without the account, 403 if it is blocked or at the limit.
 */
export async function insertReport(
  review: Pick<Review, 'id' | 'user_id'>,
  { user_id, reason }: Pick<Report, 'user_id' | 'reason'>,
  also: readonly Write[] = [],
): Promise<{ headers: Record<string, string>; isRepeated: boolean }> {
  if (review.user_id === user_id) throw invalidRequest('You cannot report your own review');
  return retryStale(async () => {
    const reported_at = new Date().toISOString();
    const counterKey = dailyVotesKey(user_id, reported_at.slice(0, 10));
    const keys = [userKey(user_id), counterKey];
    const { existing, before, others } = await readReport(review, user_id, keys);
    const [userItem, counter] = others;
    const reporter = parseUser(userItem);
    if (!reporter) throw invalidToken();
    refuseBlocked(reporter);
    const spent = spentOf('reports', counter);
    if (existing) return { headers: limitHeaders('reports', reporter, spent), isRepeated: true };
    const { id: review_id } = review;
    const report: Report = { review_id, user_id, reason, reported_at, round: before.round };
    const author = `REPORTER#${user_id}`;
    const date = `${reported_at}#${review_id}#${user_id}`;
    const isPublic = { Key: reviewKey(review_id), was: { all: 'REVIEW' } };
    const hasAuthor = { Key: userKey(review.user_id), where: whereAlive };
    await transact([
      ...also,
      putNew({ ...reportKey(review_id, user_id), author, date, ...report }),
      countReport(before, report),
      { ConditionCheck: isPublic, otherwise: notFound('Review') },
      // What a deleted account leaves to the next one no longer changes.
      { ConditionCheck: hasAuthor, otherwise: notFound('Review') },
      ableAs(reporter),
      spend('reports', reporter, reported_at),
    ]);
    return { headers: limitHeaders('reports', reporter, spent + 1), isRepeated: false };
  });
}

/** Reads a user's report of a review, of any round. */
export async function findReport(reviewId: string, userId: string): Promise<Report | undefined> {
  return findItem(Report, reportKey(reviewId, userId));
}

/** A report that may be of a deleted review. Then nobody is named, and the text is a reason. */
type ListedReport = Omit<Report, 'user_id'> & { user_id: string | null };

/** Yields open reports, review by review, for operators: the longest waiting first of each kind. */
export async function* listReports(): AsyncGenerator<ListedReport[]> {
  const { report, held, appeal } = deskPartitions;
  for (const partition of [report, held, appeal]) {
    for await (const entries of queryIndex('all-by-date', partition, { pageSize: 100 })) {
      for (const moderationCase of (await readCases(entries)).values()) {
        const { open } = await readReports(moderationCase);
        const all = [...carriedTo(moderationCase), ...open];
        if (all.length > 0) yield all;
      }
    }
  }
}

function carriedTo({ review_id, round, carried }: Case): ListedReport[] {
  if (!carried) return [];
  const report = { review_id, user_id: null, reported_at: carried.opened_at, round };
  return reasons.flatMap((reason) => Array(carried[reason]).fill({ ...report, reason }));
}

/** Reads reports of a review, oldest first: open ones, and those before the last decision. */
export async function readReports(
  { review_id, round }: Pick<Case, 'review_id' | 'round'>,
  most?: number,
): Promise<{ open: Report[]; earlier: Report[] }> {
  const items = await collect(queryItems(reportKey(review_id, '')), most);
  const reports = parseItems(Report, items).sort((a, b) =>
    a.reported_at < b.reported_at ? -1 : 1,
  );
  return {
    open: reports.filter((report) => report.round === round),
    earlier: reports.filter((report) => report.round !== round),
  };
}

/** Deletes a report of an account that is being erased, and closes the case without others. */
export async function eraseReport(reviewId: string, userId: string, isGone: Write): Promise<void> {
  await retryStale(async () => {
    const { existing, before } = await readReport({ id: reviewId, user_id: '' }, userId);
    if (!existing) return;
    const Key = reportKey(reviewId, userId);
    const writes: Write[] = [isGone, { Delete: { Key, where: [['pk', 'present']] } }];
    // An appeal is about a decision, which has answered all earlier reports: their round is over.
    if (before.state === 'open' && existing.round === before.round) {
      writes.push(replaceCase(before, withoutReport(before, existing)));
    }
    await transact(writes);
  });
}

/** Takes a report from an open case. Its last report closes the case. */
function withoutReport(before: Case, report: Report): Case {
  const reason = countedAs(report);
  const reports = before.reports - 1;
  return {
    ...before,
    reports,
    [reason]: before[reason] - 1,
    state: reports === 0 && !before.is_held ? 'closed' : 'open',
  };
}

/** Opens a case again after an import has restored its reports. */
export async function reopenCase(reviewId: string): Promise<void> {
  await retryStale(async () => {
    const before = await findItem(Case, caseKey(reviewId));
    if (before?.state !== 'closed') return;
    const { open } = await readReports(before);
    if (!open[0]) return;
    const opened_at = open[0].reported_at;
    const after: Case = { ...before, ...countReports(open), state: 'open', opened_at };
    await transact([replaceCase(before, after)]);
  });
}

/**
 * Opens the case of a public review that an import has restored, with the undecided reports that
 * its deletion had left. Those that the import has brought as records are not counted twice.
 */
export async function takeUpReports(reviewId: string): Promise<void> {
  await retryStale(async () => {
    const keys = [reviewKey(reviewId), caseKey(reviewId)];
    const [item, caseItem] = await getItems(keys, { consistent: true });
    const review = item && v.parse(Review, item);
    if (!review?.reported || !isPublic(review)) return;
    const before = caseItem ? v.parse(Case, caseItem) : newCase(review);
    const { open } = await readReports(before);
    const carried = carriedBeside(open, review.reported, before.carried);
    const { version, reported } = review;
    const Key = reviewKey(reviewId);
    const set = { reported: undefined };
    const writes: Write[] = [
      { Update: { Key, set, amounts: { version: 1 }, was: { version, reported } } },
    ];
    // Without any, the case is as its records have made it.
    if (reasons.some((reason) => carried[reason] > 0)) {
      const counts = countReports(open, carried);
      const opened_at = before.state === 'open' ? before.opened_at : carried.opened_at;
      writes.push(replaceCase(before, { ...before, ...counts, state: 'open', opened_at, carried }));
    }
    await transact(writes);
  });
}

/** Returns the reports of a deletion that are no records, and at least those `before`. */
function carriedBeside(open: readonly Report[], reported: Carried, before?: Carried): Carried {
  const brought = countReports(open);
  const rest = reasons.map((reason) => {
    return [reason, Math.max(before?.[reason] ?? 0, reported[reason] - brought[reason])];
  });
  return { opened_at: reported.opened_at, ...(Object.fromEntries(rest) as Record<Reason, number>) };
}

async function readReport(
  review: Pick<Review, 'id' | 'user_id'>,
  userId: string,
  alsoRead: readonly Key[] = [],
) {
  const keys = [reportKey(review.id, userId), caseKey(review.id), ...alsoRead];
  const [report, caseItem, ...others] = await getItems(keys, { consistent: true });
  return {
    existing: report && v.parse(Report, report),
    before: caseItem ? v.parse(Case, caseItem) : newCase(review),
    others,
  };
}
