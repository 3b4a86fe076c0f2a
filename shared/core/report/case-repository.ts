import * as v from 'valibot';
import { notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { caseKey, reviewKey, waitingKey } from '../keys.ts';
import { Case, type CaseOrigin, caseKindOf, newCase } from '../review/case.ts';
import { isDraft, isHeld, Review } from '../review/review.ts';
import { WaitingText } from '../review/waiting.ts';

export interface ReviewCase {
  review: Review;
  moderationCase: Case;
  /** The text of an edit that waits, or waited when the review was hidden. */
  waiting: WaitingText | undefined;
}

/** Reads a review and its case, which may be new. Throws ApiError 404 without the review. */
export async function readCase(reviewId: string): Promise<ReviewCase> {
  const keys = [reviewKey(reviewId), caseKey(reviewId), waitingKey(reviewId)];
  const [reviewItem, caseItem, waitingItem] = await getItems(keys, { consistent: true });
  const review = reviewItem && v.parse(Review, reviewItem);
  if (!review || review.deleted_at !== undefined) throw notFound('Review');
  const waiting = waitingItem && v.parse(WaitingText, waitingItem);
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

/** Returns why a case is open now. */
export function openedBy({
  review,
  moderationCase,
}: Pick<ReviewCase, 'review' | 'moderationCase'>): CaseOrigin {
  const kind = caseKindOf(moderationCase);
  if (kind !== 'held') return kind;
  return isHeld(review) ? 'hold' : 'edit';
}

/** Throws ApiError 404 for a draft, which moderators do not see, unless its author appeals. */
export function checkShown({ review, moderationCase }: ReviewCase): void {
  if (isDraft(review) && moderationCase.state === 'closed') throw notFound('Review');
}

/** Reads the cases of index entries, in their order, by the ids of the reviews. */
export async function readCases(entries: readonly Key[]): Promise<Map<string, Case>> {
  const items = await getItems(entries, { consistent: true });
  const cases = parseItems(Case, items);
  return new Map(cases.map((each) => [each.review_id, each]));
}
