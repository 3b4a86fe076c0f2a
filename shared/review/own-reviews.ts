import { readPage } from '../list/read-page.ts';
import { claimKey } from '../table/keys.ts';
import { countItems } from '../table/query.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** A page of a user's own reviews, drafts and hidden ones included, newest first, and how many there are. */
export async function listOwnReviews(
  user_id: string,
  limit: number,
  offset: number,
): Promise<{ count: number; reviews: AuthoredReview[] }> {
  // A user has one claim for each review, whatever its state.
  const count = await countItems(claimKey(user_id, ''));
  if (limit === 0 || offset >= count) return { count, reviews: [] };
  const { entries } = await readPage(
    {
      partitions: [
        { scope: 'author', value: user_id },
        { scope: 'author', value: `UNLISTED#${user_id}` },
      ],
    },
    { order: 'date', descending: true, offset, limit },
  );
  const reviews = await findReviews(
    entries.map(({ pk }) => ({ review_id: pk.slice('REVIEW#'.length), user_id })),
  );
  return { count, reviews };
}
