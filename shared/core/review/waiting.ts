import * as v from 'valibot';
import { getItems } from '../../base/table/batch.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { getItem } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import { waitingKey } from '../keys.ts';
import type { Review, WholeReview } from './review.ts';
import { type Written, writtenIn } from './written.ts';

// The text of an edit that waits for a moderator, beside the review that stays public meanwhile.

/** A text that waits, as stored. The review has `waiting_since`, and its case is open. */
export const WaitingText = v.object({
  review_id: v.string(),
  /** The author. */
  user_id: v.string(),
  text: v.string(),
  /** Set while it is kept of a review that was hidden with all of its author: the edits then. */
  kept_at: v.optional(v.number()),
});
export type WaitingText = v.InferOutput<typeof WaitingText>;

/** Returns the write that stores a text, in the place of an earlier one. */
export function putWaiting({ id, user_id }: Review, text: string): Write {
  const waiting: WaitingText = { review_id: id, user_id, text };
  return { Put: { Item: { ...waitingKey(id), ...waiting } } };
}

/**
 * Returns the write that keeps a text of a review that is hidden with all that its author did. It
 * waits again when the review is restored, unless that has been edited since.
 */
export function keepWaiting(review: Review, text: string): Write {
  const kept: WaitingText = {
    review_id: review.id,
    user_id: review.user_id,
    text,
    kept_at: review.edits,
  };
  return { Put: { Item: { ...waitingKey(review.id), ...kept } } };
}

/** Returns the write that drops the text of a review that has one. */
export function dropWaiting({ id }: Pick<Review, 'id'>): Write {
  return { Delete: { Key: waitingKey(id) } };
}

const isWaiting = ({ waiting_since }: Review) => waiting_since !== undefined;

/** Returns true for a review that may have a text beside it, one that is kept included. */
export const mayHaveText = (review: Review) => isWaiting(review) || review.is_hidden;

/**
 * Reads the texts beside reviews, by their ids: those that wait, unless `has` also asks for others.
 * Costs nothing without any.
 */
export async function findWaitingTexts(
  reviews: readonly Review[],
  has: (review: Review) => boolean = isWaiting,
): Promise<Map<string, string>> {
  const waiting = reviews.filter(has);
  if (waiting.length === 0) return new Map();
  const items = await getItems(waiting.map(({ id }) => waitingKey(id)));
  return new Map(parseItems(WaitingText, items).map(({ review_id, text }) => [review_id, text]));
}

/** Returns what the author has written last: the current revision, with a text that waits. */
export async function findLatestWritten(review: WholeReview): Promise<Written> {
  const written = writtenIn(review);
  if (review.waiting_since === undefined) return written;
  const waiting = parseItem(WaitingText, await getItem(waitingKey(review.id)));
  return waiting ? { ...written, text: waiting.text } : written;
}
