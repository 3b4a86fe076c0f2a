import { type ListPage, type PageRequest, readPage } from '../list/read-page.ts';
import { claimKey, countsKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { writtenReviews } from './owner-counts.ts';
import type { Review } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** Lists a page of a user's reviews, newest first, with drafts and hidden ones, and counts all. */
export async function listOwnReviews(
  userId: string,
  limit: number,
  offset: number,
): Promise<{ count: number; reviews: AuthoredReview[] }> {
  const count = writtenReviews(await getItem(countsKey(userId)));
  if (limit === 0 || offset >= count) return { count, reviews: [] };
  const { reviews } = await listWritten(userId, { limit, offset });
  return { count, reviews };
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
