import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { type List, type Page, readPage } from '../list/read-page.ts';
import { isDraft, Review, toReference } from '../review/review.ts';
import { type AuthoredReview, findReviews } from '../review/review-repository.ts';
import { getItems } from '../table/batch.ts';
import type { Order } from '../table/definition.ts';
import type { Key, SortKey } from '../table/item.ts';
import { caseKey, reviewKey } from '../table/keys.ts';
import { Case, newCase } from './case.ts';

/** A review, and what there is to decide about it. */
export interface Found {
  review: Review;
  file: Case;
}

/** The review of a case and the case, which may be yet to come. Throws ApiError 404 when there is no such review. */
export async function readCase(reviewId: string): Promise<Found> {
  const keys = [reviewKey(reviewId), caseKey(reviewId)];
  const [item, found] = await getItems(keys, { consistent: true });
  const review = item && v.parse(Review, item);
  if (!review || review.deleted_at !== undefined) throw notFound('Review');
  return { review, file: found ? v.parse(Case, found) : newCase(review) };
}

/** The same for moderators: throws ApiError 404 also where the author has not published the review yet, and asks for no other look at it. */
export async function readShownCase(reviewId: string): Promise<Found> {
  const found = await readCase(reviewId);
  if (isDraft(found.review) && found.file.state === 'closed') throw notFound('Review');
  return found;
}

/** A page of the queue: open cases with their reviews and authors, those that wait longest or those with the most reports first. */
export async function listCases(
  order: Order,
  limit: number,
  after?: SortKey,
): Promise<Pick<Page, 'next'> & { cases: (AuthoredReview & { file: Case })[] }> {
  const queue: List = { partitions: [{ scope: 'all', value: 'CASE' }] };
  const descending = order === 'popularity';
  const { entries, next } = await readPage(queue, { order, descending, limit, offset: 0, after });
  if (entries.length === 0) return { cases: [], next };
  const [files, reviews] = await Promise.all([
    readCases(entries),
    findReviews(entries.map(toReference)),
  ]);
  const cases = reviews.flatMap(({ review, author }) => {
    const file = files.get(review.id);
    // The index may be behind.
    return file?.state === 'open' ? [{ review, author, file }] : [];
  });
  return { cases, next };
}

/** The cases of these index entries, in their order, by the ids of the reviews. */
export async function readCases(entries: readonly Key[]): Promise<Map<string, Case>> {
  const items = await getItems(entries, { consistent: true });
  const files = items.flatMap((item) => (item ? v.parse(Case, item) : []));
  return new Map(files.map((file) => [file.review_id, file]));
}
