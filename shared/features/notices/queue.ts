// The queue of notices: a partition in the order in which their mails are due.
import { countMetric } from '../../base/metric.ts';
import { batchDelete, batchWrite } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { noticeKey } from '../../core/keys.ts';
import { Notice, noticeItem, quiet } from '../../core/user/notice.ts';

/** Milliseconds for which news wait for a mail server, at most. */
export const longest = 2 * 86_400_000;

/**
 * Notices that are read at once, for 50 read units. One account with more gets them in several
 * mails, and others wait for the next run.
 */
export const mostAtOnce = 1000;

/** A notice with the key of its item. */
interface Queued extends Key {
  notice: Notice;
}

/**
 * Reads notices, by the people whom they tell. A person who has one that is due gets those of the
 * next minute with it.
 */
export async function readDue(): Promise<Map<string, Queued[]>> {
  const now = Date.now();
  const range = { pageSize: mostAtOnce, until: before(now + quiet) };
  const items = await collect(queryItems(noticeKey('', ''), range), mostAtOnce);
  const queued = items.flatMap(({ pk, sk, ...item }): Queued[] => {
    const notice = parseItem(Notice, { pk, sk, ...item });
    return notice ? [{ pk, sk, notice }] : [];
  });
  const groups = [...Map.groupBy(queued, ({ notice }) => notice.user_id)];
  return new Map(groups.filter(([, own]) => own.some(({ sk }) => sk < before(now))));
}

/** Returns the sort key after all notices that are due until `time` (epoch ms). */
const before = (time: number) => noticeKey(time + 1, '').sk;

/** Returns the time (epoch ms) of the oldest notice, or undefined. Reads half a unit. */
export async function oldestNotice(): Promise<number | undefined> {
  const options = { pageSize: 1, consistent: false };
  const [first] = await collect(queryItems(noticeKey('', ''), options), 1);
  return first && parseItem(Notice, first)?.created_at;
}

/** Deletes notices that were told, or that nobody is to be told of. */
export const drop = (queued: readonly Queued[]): Promise<void> => batchDelete(queued);

/** Makes notices due at `due_at` (epoch ms). Those that have waited for two days are lost. */
export async function postpone(queued: readonly Queued[], due_at: number): Promise<void> {
  const { over = [], kept = [] } = Object.groupBy(queued, ({ notice }) =>
    notice.created_at + longest < due_at ? 'over' : 'kept',
  );
  if (over.length > 0) noteLost(over.length);
  await batchWrite(kept.map(({ notice }) => ({ put: noticeItem(notice, due_at) })));
  await drop(queued);
}

/** Milliseconds after which a mail that still fails is late: four attempts have failed by then. */
const late = 1_800_000;

/**
 * Counts a failed attempt to send a mail that is late. The pauses between attempts get longer, so
 * the runs that fail are few, and an alarm about them would stay silent.
 */
export function noteAttempt(age: number): void {
  if (age >= late) countMetric('LateMails', 1, { isSummed: true });
}

/** Counts notices that were never told, because no mail could be sent for two days. */
export function noteLost(notices: number): void {
  console.warn({ message: 'Notices were not mailed', notices });
  countMetric('LostNotices', notices, { isSummed: true });
}
