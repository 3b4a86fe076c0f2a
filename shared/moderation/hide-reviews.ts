import { ApiError, invalidRequest, notFound } from '../errors.ts';
import { type ListPage, readPage } from '../list/read-page.ts';
import { isPublic, type Review } from '../review/review.ts';
import type { SortKey } from '../table/item.ts';
import { idIn } from '../table/keys.ts';
import { sortKeyIn } from '../table/query.ts';
import type { Decider } from './decision.ts';
import { checkVerdict, close } from './decision-repository.ts';

/** Reviews of one step. */
export const stepSize = 25;
/** Milliseconds after which a step starts no further decision. A function has 15 seconds. */
const patience = 3_000;

/** The number of hidden reviews, and the reviews that stay public with the reason. */
export interface Step extends Pick<ListPage, 'next'> {
  hidden: number;
  left: { review: Review; why: string }[];
}

/**
 * Hides the public reviews of an author, newest first: up to 25 after the sort key `after`, each as
 * `decideReview` does. Skips reviews that were published, edited or decided on after `seenAt` (ISO
 * 8601). Idempotent. Throws ApiError 404 if the user is not a moderator, 400 for the own reviews.
 */
export async function hideReviews(
  userId: string,
  by: Decider,
  seenAt: string,
  after: SortKey = `${seenAt}~`,
): Promise<Step> {
  if (by.moderator_id === userId) {
    throw invalidRequest('These reviews are your own: another moderator decides on them');
  }
  const { entries, next } = await readPage(
    { partitions: [{ scope: 'author', value: userId }] },
    { order: 'date', descending: true, offset: 0, limit: stepSize, after },
  );
  const step: Step = { hidden: 0, left: [], next };
  const end = performance.now() + patience;
  for (const entry of entries) {
    let review: Review | undefined;
    try {
      const decision = await close(idIn(entry), by, (found) => {
        review = found.review;
        // It was hidden by somebody else, or by this very step.
        if (!isPublic(review)) return undefined;
        if (lastChange(review) >= seenAt) throw changedSince;
        checkVerdict('hide', found, by);
        return 'hide';
      });
      if (decision) step.hidden++;
    } catch (error) {
      const isRefused = error instanceof ApiError && error.code === 'invalid_request';
      const isGone = error instanceof ApiError && error.message === reviewGone;
      if (isRefused && review) step.left.push({ review, why: error.message });
      else if (!isGone) throw error;
    }
    if (performance.now() > end && entry !== entries.at(-1)) {
      return { ...step, next: sortKeyIn(entry, 'date') };
    }
  }
  return step;
}

const changedSince = invalidRequest('It was changed or decided on since you opened the page');
/** A user who is not a moderator gets another message: there is no such page. */
const reviewGone = notFound('Review').message;

function lastChange({ last_updated, moderation }: Review): string {
  const decided_at = moderation?.decided_at ?? '';
  return decided_at > last_updated ? decided_at : last_updated;
}
