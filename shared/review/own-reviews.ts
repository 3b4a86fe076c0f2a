import { readPage } from '../list/read-page.ts';
import { claimKey } from '../table/keys.ts';
import { countItems } from '../table/query.ts';
import { toReference } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/**
 * Lists a page of a user's own reviews, newest first, drafts and hidden ones too, and counts all.
 */
export async function listOwnReviews(
  userId: string,
  limit: number,
  offset: number,
): Promise<{ count: number; reviews: AuthoredReview[] }> {
  // A user has one claim a review, in any state. A marked claim has lost its review.
  const unmarked = { FilterExpression: 'attribute_not_exists(marked_at)' };
  const count = await countItems(claimKey(userId, ''), unmarked);
  if (limit === 0 || offset >= count) return { count, reviews: [] };
  const { entries } = await readPage(
    {
      partitions: [
        { scope: 'author', value: userId },
        { scope: 'author', value: `UNLISTED#${userId}` },
      ],
    },
    { order: 'date', descending: true, offset, limit },
  );
  return { count, reviews: await findReviews(entries.map(toReference)) };
}
