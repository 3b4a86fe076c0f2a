import * as v from 'valibot';
import { invalidToken, notFound } from '../errors.ts';
import { batchGet } from '../table/batch.ts';
import { type Key, reportKey, reviewKey, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { Report } from './report.ts';

/**
 * Files a report, unless this user has reported this review before: then nothing changes. `also` is written with it, or instead of it. Throws
 * ApiError 404 when the review is no longer public, 401 when the account is gone.
 */
export async function insertReport(report: Report, also: readonly Write[] = []): Promise<void> {
  const { review_id, user_id } = report;
  const key = reportKey(review_id, user_id);
  await retryStale(async () => {
    const item = await getItem(key);
    if (item) {
      if (also.length > 0) await transact(also);
      return;
    }
    await transact([
      ...also,
      { Put: { Item: reportItem(report), ConditionExpression: 'attribute_not_exists(pk)' } },
      {
        ConditionCheck: {
          Key: reviewKey(review_id),
          ConditionExpression: 'attribute_exists(#all)',
          ExpressionAttributeNames: { '#all': 'all' },
        },
        otherwise: notFound('Review'),
      },
      {
        ConditionCheck: { Key: userKey(user_id), ConditionExpression: isAlive },
        otherwise: invalidToken(),
      },
    ]);
  });
}

/** All reports, oldest first. */
export async function listReports(): Promise<Report[]> {
  const entries = await collect(queryIndex('all-by-date', 'REPORT'));
  const reports: Report[] = [];
  for (let start = 0; start < entries.length; start += 100) {
    const keys = entries.slice(start, start + 100).map(({ pk, sk }): Key => ({ pk, sk }));
    const items = await batchGet(keys);
    reports.push(...[...items.values()].map((item) => v.parse(Report, item)));
  }
  return reports.sort((a, b) => (a.reported_at < b.reported_at ? -1 : 1));
}

/** The item of a report. */
export function reportItem(report: Report) {
  const { review_id, user_id, reported_at } = report;
  return {
    ...reportKey(review_id, user_id),
    all: 'REPORT',
    author: `REPORTER#${user_id}`,
    date: `${reported_at}#${review_id}#${user_id}`,
    ...report,
  };
}
