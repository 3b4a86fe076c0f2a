import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { type ListPage, type ListPlan, readPage } from '../list/read-page.ts';
import { Case, type CaseOrigin, newCase } from '../review/case.ts';
import { isDraft, isHeld, Review } from '../review/review.ts';
import { type AuthoredReview, findReviews } from '../review/review-repository.ts';
import type { Reason } from '../review/verdict.ts';
import { WaitingText } from '../review/waiting.ts';
import { getItems } from '../table/batch.ts';
import type { Order } from '../table/definition.ts';
import type { Key, SortKey } from '../table/item.ts';
import { caseKey, idIn, reviewKey, waitingKey } from '../table/keys.ts';
import { parseItem, parseItems } from '../table/parse.ts';
import { collect, queryIndex } from '../table/query.ts';

export interface ReviewCase {
  review: Review;
  moderationCase: Case;
  /** The text of an edit that waits. */
  waiting: string | undefined;
}

/** Reads a review and its case, which may be new. Throws ApiError 404 without the review. */
export async function readCase(reviewId: string): Promise<ReviewCase> {
  const keys = [reviewKey(reviewId), caseKey(reviewId), waitingKey(reviewId)];
  const [reviewItem, caseItem, waitingItem] = await getItems(keys, { consistent: true });
  const review = reviewItem && v.parse(Review, reviewItem);
  if (!review || review.deleted_at !== undefined) throw notFound('Review');
  const waiting = waitingItem && v.parse(WaitingText, waitingItem).text;
  const moderationCase = caseItem ? v.parse(Case, caseItem) : newCase(review);
  return { review, moderationCase, waiting };
}

/** Reads the open case of a review. Undefined if the case is closed by now, or the review gone. */
export async function findOpenCase(
  reviewId: string,
): Promise<Omit<ReviewCase, 'waiting'> | undefined> {
  const keys = [reviewKey(reviewId), caseKey(reviewId)];
  const [reviewItem, caseItem] = await getItems(keys, { consistent: true });
  const review = parseItem(Review, reviewItem);
  const moderationCase = parseItem(Case, caseItem);
  const isGone = review === undefined || review.deleted_at !== undefined;
  if (isGone || moderationCase?.state !== 'open') return undefined;
  return { review, moderationCase };
}

/** Returns why a case is open now. What its author waits for comes before reports. */
export function openedBy({
  review,
  moderationCase,
}: Pick<ReviewCase, 'review' | 'moderationCase'>): CaseOrigin {
  if (moderationCase.appeal !== undefined) return 'appeal';
  if (isHeld(review)) return 'hold';
  return moderationCase.is_held ? 'edit' : 'report';
}

/** Counts the open cases up to 100, for at most 2.5 read units. */
export async function countOpenCases(): Promise<number> {
  const cases = await collect(queryIndex('all-by-date', 'CASE', { pageSize: 100 }), 100);
  return cases.length;
}

/** Throws ApiError 404 for a draft, which moderators do not see, unless its author appeals. */
export function checkShown({ review, moderationCase }: ReviewCase): void {
  if (isDraft(review) && moderationCase.state === 'closed') throw notFound('Review');
}

/**
 * Reads a page of open cases with their reviews, the oldest or the most reported first. With a
 * `reason` it returns the matching ones of the next `limit` (at most 100), which may be none. The
 * reason `held` is that of reviews by newcomers.
 */
export async function listCases(
  order: Order,
  limit: number,
  { reason, after }: { reason?: Reason | 'held' | undefined; after?: SortKey | undefined } = {},
): Promise<
  Pick<ListPage, 'next'> & { cases: (AuthoredReview & Pick<ReviewCase, 'moderationCase'>)[] }
> {
  const queue: ListPlan = { partitions: [{ scope: 'all', value: 'CASE' }] };
  const descending = order === 'popularity';
  const { entries, next } = await readPage(queue, { order, descending, limit, offset: 0, after });
  const cases = await readCases(entries);
  const reviews = await findReviews(
    entries.filter((entry) => {
      const moderationCase = cases.get(idIn(entry));
      // The index may be behind.
      return moderationCase?.state === 'open' && (!reason || isIn(moderationCase, reason));
    }),
  );
  const withCase = (each: AuthoredReview) => {
    return { ...each, moderationCase: cases.get(each.review.id) as Case };
  };
  return { cases: reviews.map(withCase), next };
}

function isIn(moderationCase: Case, reason: Reason | 'held'): boolean {
  return reason === 'held' ? moderationCase.is_held === true : moderationCase[reason] > 0;
}

/** Reads the cases of index entries, in their order, by the ids of the reviews. */
export async function readCases(entries: readonly Key[]): Promise<Map<string, Case>> {
  const items = await getItems(entries, { consistent: true });
  const cases = parseItems(Case, items);
  return new Map(cases.map((each) => [each.review_id, each]));
}
