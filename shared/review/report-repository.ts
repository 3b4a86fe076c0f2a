import * as v from 'valibot';
import { invalidToken, notFound } from '../errors.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { type Key, reportKey, reviewKey, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex, queryItems } from '../table/query.ts';
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

/** The reports that nobody has dismissed, oldest first, page by page. For operators. */
export async function* listReports(): AsyncGenerator<Report[]> {
  for await (const entries of queryIndex('all-by-date', 'REPORT', { pageSize: 100 })) {
    const keys = entries.map(({ pk, sk }): Key => ({ pk, sk }));
    const items = await batchGet(keys);
    yield keys.flatMap((key) => {
      const item = items.get(keyString(key));
      return item ? [v.parse(Report, item)] : [];
    });
  }
}

/**
 * Takes the reports of a review off the list, all or that of one user; gives how many. They stay, so that nobody reports a second time what
 * has been looked at.
 */
export async function dismissReports(reviewId: string, userId?: string): Promise<number> {
  let dismissed = 0;
  await retryStale(async () => {
    const items = await collect(queryItems(reportKey(reviewId, userId ?? '')));
    for (const { pk, sk, all } of items) {
      if (all === undefined) continue;
      await transact([
        {
          Update: {
            Key: { pk, sk },
            UpdateExpression: 'REMOVE #all',
            ConditionExpression: 'attribute_exists(#all)',
            ExpressionAttributeNames: { '#all': 'all' },
          },
        },
      ]);
      dismissed++;
    }
  });
  return dismissed;
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
