import { getItems } from '../table/batch.ts';
import { countsKey, userKey } from '../table/keys.ts';
import { parseUser } from '../user/user.ts';
import { canModerate } from '../user/user-type.ts';
import { countsIn } from './owner-counts.ts';
import type { WholeReview } from './review.ts';

// The reviews of newcomers, which wait for a moderator before anybody else sees them.

/**
 * Returns a review that is being published: held while its author has too few public ones. Waiting
 * reviews do not count, so that an account cannot get past the moderators by publishing more.
 */
export async function holdIfNew(review: WholeReview): Promise<WholeReview> {
  const publicFirst = Number(process.env.HELD_REVIEWS ?? 0);
  if (publicFirst === 0) return review;
  const [user, counts] = await getItems([userKey(review.user_id), countsKey(review.user_id)]);
  const author = parseUser(user);
  if (author && canModerate(author)) return review;
  return countsIn(counts).all < publicFirst ? hold(review) : review;
}

/** Hides a review until a moderator decides, since its publication. */
function hold(review: WholeReview): WholeReview {
  const decided_at = review.published_on ?? review.created;
  const moderation = { decision: 'hold', reason: 'other', note: '', decided_at } as const;
  return { ...review, is_hidden: true, moderation };
}
