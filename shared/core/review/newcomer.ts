import { getItems } from '../../base/table/batch.ts';
import { countsKey, userKey } from '../keys.ts';
import { parseUser } from '../user/user.ts';
import { canModerate } from '../user/user-type.ts';
import { countsIn } from './owner-counts.ts';
import { isPublic, type WholeReview } from './review.ts';
import type { Written } from './written.ts';

// The reviews of newcomers and their edits, which wait for a moderator before others see them.

/**
 * Returns a review that is being published: held while its author has too few public ones. Waiting
 * reviews do not count, so that an account cannot get past the moderators by publishing more.
 */
export async function holdIfNew(review: WholeReview): Promise<WholeReview> {
  return (await isNewcomer(review.user_id)) ? hold(review) : review;
}

/**
 * Returns the text of a change that waits for a moderator, or undefined if none does. Only new
 * words on a public review wait. Its rating, and the removal of its text, take effect at once.
 */
export async function textToHold(
  before: WholeReview,
  { text }: Partial<Written>,
): Promise<string | undefined> {
  const isNew = text !== undefined && text !== null && text !== before.text;
  if (!isNew || !isPublic(before)) return undefined;
  return (await isNewcomer(before.user_id)) ? text : undefined;
}

/**
 * Returns true for an author whose reviews are held. Costs nothing unless the operator has the
 * option. Moderators are never newcomers.
 */
export async function isNewcomer(userId: string): Promise<boolean> {
  const publicFirst = Number(process.env.HELD_REVIEWS ?? 0);
  if (publicFirst === 0) return false;
  const [user, counts] = await getItems([userKey(userId), countsKey(userId)]);
  const author = parseUser(user);
  if (author && canModerate(author)) return false;
  return countsIn(counts).all < publicFirst;
}

/** Hides a review until a moderator decides, since its publication. */
function hold(review: WholeReview): WholeReview {
  const decided_at = review.published_on ?? review.created;
  const moderation = { decision: 'hold', reason: 'other', note: '', decided_at } as const;
  return { ...review, is_hidden: true, moderation };
}
