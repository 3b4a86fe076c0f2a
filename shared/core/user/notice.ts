// Notices: news that a person is also told by mail. A notice names things, and holds no text.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { ApiError } from '../../base/errors.ts';
import type { Write } from '../../base/table/transact.ts';
import { StoredId } from '../../base/values.ts';
import { noticeKey } from '../keys.ts';
import { type NewsKind, newsKinds, newsUpdate } from './news.ts';

/** Kinds of news that are mailed. The job of the webhooks may write news, but no notices. */
const noticeKinds = newsKinds.filter((kind) => kind !== 'webhook');
export type NoticeKind = (typeof noticeKinds)[number];

/** A notice as stored. */
export const Notice = v.object({
  user_id: StoredId,
  kind: v.picklist(noticeKinds),
  /** The review that was decided on. */
  review_id: v.optional(StoredId),
  /** In ms since 1970. */
  created_at: v.number(),
});
export type Notice = v.InferOutput<typeof Notice>;

/** Milliseconds that a notice waits for others, so that one mail tells of several decisions. */
export const quiet = 60_000;

/** Returns true if the service sends mails. Without it, no notice is written. */
export function isMailing(): boolean {
  return Boolean(process.env.MAIL_FROM);
}

/** Milliseconds for which a notice is kept. No mail is tried for so long. */
const kept = 3 * 86_400_000;

/** Makes the item of a notice that is due at `due_at` (epoch ms). */
export function noticeItem(notice: Notice, due_at: number) {
  const expires_at = Math.ceil((notice.created_at + kept) / 1000);
  return { ...noticeKey(due_at, randomUUID()), ...notice, expires_at };
}

/** Returns the write that has news told by mail: two write units. Other words are no news. */
export function noticeWrites(user_id: string, kind: string, review_id?: string): Write[] {
  const found = noticeKinds.find((each) => each === kind);
  if (!found || !isMailing()) return [];
  const created_at = Date.now();
  const notice = { user_id, kind: found, created_at, ...(review_id && { review_id }) };
  return [{ Put: { Item: noticeItem(notice, created_at + quiet) } }];
}

/** Returns the writes that tell an existing person something, on pages and by mail. */
export function newsWrites(userId: string, kind: NewsKind, otherwise?: ApiError): Write[] {
  return [{ Update: newsUpdate(userId, kind), otherwise }, ...noticeWrites(userId, kind)];
}
