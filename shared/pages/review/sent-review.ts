// A new review that a form has sent.
import { ApiError } from '../../base/errors.ts';
import { retryStale, type Write } from '../../base/table/transact.ts';
import { findOwnReview } from '../../core/review/own-reviews.ts';
import { getReviewBy } from '../../core/review/read-reviews.ts';
import { isDraft, type WholeReview } from '../../core/review/review.ts';
import { insertReview } from '../../core/review/review-repository.ts';
import { hasNeeded, isSameWritten, type Written } from '../../core/review/written.ts';
import { spendNaming } from '../../core/user/daily-limit.ts';
import type { User } from '../../core/user/user.ts';
import { FieldError } from '../form/way-back.ts';
import type { Redirect } from '../frame/html-response.ts';
import { afterSaving } from './edit-review-page.ts';

/** Throws the error of a form without stars and without a text. */
export function requireContent(written: Written): void {
  if (!hasNeeded(written)) throw new FieldError('', 'Give stars, write a text, or both.');
}

/**
 * Stores the review, and leads to it. `insert` returns it as stored. A form that is sent twice
 * leads to the review of the first time.
 */
export async function saveNew(
  review: WholeReview,
  insert: (review: WholeReview) => Promise<WholeReview> = insertReview,
): Promise<Redirect> {
  const isPublication = !isDraft(review);
  try {
    return afterSaving(await insert(review), isPublication);
  } catch (error) {
    const earlier = error instanceof ApiError && error.status < 500 && (await findSame(review));
    if (!earlier) throw error;
    return afterSaving(earlier, isPublication);
  }
}

/**
 * Stores a review by the user, and the name of its thing by the writes that `readWrites` returns.
 * It counts as a name if there are some.
 */
export function insertNamed(
  review: WholeReview,
  user: User,
  readWrites: () => Promise<readonly Write[]>,
): Promise<WholeReview> {
  return retryStale(async () => {
    const [naming, spent] = await Promise.all([readWrites(), spendNaming('publications', user)]);
    return insertReview(review, naming, naming.length > 0 ? spent : undefined);
  });
}

/** Finds the review that the same form has made before, if it was sent twice. */
async function findSame(review: WholeReview): Promise<WholeReview | undefined> {
  const own = await findOwnReview(review.user_id, review.entity_id);
  if (!own || own === 'hidden') return undefined;
  const stored = await getReviewBy(review.user_id, own.review_id);
  const isSame =
    isSameWritten(stored, review) &&
    stored.language === review.language &&
    stored.license === review.license &&
    isDraft(stored) === isDraft(review);
  return isSame ? stored : undefined;
}
