import { fitting } from '../../base/answer-size.ts';
import type { PageRequest } from '../../base/list/page-plan.ts';
import { type ListPage, readPage } from '../../base/list/read-page.ts';
import { getItem } from '../../base/table/query.ts';
import { claimKey, countsKey } from '../keys.ts';
import { affordable, completed } from './long-text.ts';
import { writtenReviews } from './owner-counts.ts';
import { writtenBytes } from './page-size.ts';
import { type AuthoredReview, findReviews } from './read-reviews.ts';
import type { Review, WholeReview } from './review.ts';
import { longestTextInJson } from './written.ts';

/**
 * The most bytes of texts on a page in the API: 50 of the longest that people write. So only the
 * page of an author with longer, imported ones ends earlier.
 */
const mostOwnBytes = 50 * longestTextInJson;

/**
 * Lists a page of a user's reviews, newest first, with drafts and hidden ones, and counts all. The
 * `limit` of a page that ends early is the number of its reviews.
 */
export async function listOwnReviews(
  userId: string,
  limit: number,
  offset: number,
): Promise<{ count: number; limit: number; reviews: AuthoredReview<WholeReview>[] }> {
  const count = writtenReviews(await getItem(countsKey(userId)));
  if (limit === 0 || offset >= count) return { count, limit, reviews: [] };
  const { reviews: stored } = await listWritten(userId, { limit, offset });
  const readable = affordable(stored);
  const whole = await completed(readable);
  const sizes = whole.map(({ review }) => writtenBytes(review));
  const reviews = whole.slice(0, fitting(sizes, mostOwnBytes));
  const isShort = reviews.length < whole.length || readable.length < stored.length;
  return { count, limit: isShort ? reviews.length : limit, reviews };
}

/** Reads the same page without the count. */
export async function listWritten(
  userId: string,
  position: Pick<PageRequest, 'limit' | 'offset' | 'after'>,
): Promise<Pick<ListPage, 'next'> & { reviews: AuthoredReview[] }> {
  const partitions = [userId, `UNLISTED#${userId}`].map(
    (value) => ({ scope: 'author', value }) as const,
  );
  const sorting = { order: 'date', descending: true } as const;
  const { entries, next } = await readPage({ partitions }, { ...sorting, ...position });
  return { reviews: await findReviews(entries), next };
}

/**
 * Finds what a user has written of an entity: the id of the review, in any state. Is `hidden` if it
 * was deleted while a moderator had hidden it, so that the user cannot write another one.
 */
export async function findOwnReview(
  userId: string,
  entityId: string,
  options?: { consistent: boolean },
): Promise<{ review_id: string } | 'hidden' | undefined> {
  const claim = await getItem(claimKey(userId, entityId), options);
  if (claim?.marked_at !== undefined) return 'hidden';
  // The claim of a deleted review with undecided reports does not prevent another one.
  if (!claim || claim.reported !== undefined) return undefined;
  return { review_id: String(claim.review_id) };
}

/** Returns the newest review of a user, in any state, if there is one. */
export async function findLastWritten(userId: string): Promise<Review | undefined> {
  const { reviews } = await listWritten(userId, { limit: 1, offset: 0 });
  return reviews[0]?.review;
}
