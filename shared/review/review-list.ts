import type { AverageRating } from '../entity/presented.ts';
import { type PageRequest, readPage } from '../list/read-page.ts';
import { readFacetTotals, readLengths } from '../list/totals.ts';
import { getItems } from '../table/batch.ts';
import type { Entry, Key, SortKey } from '../table/item.ts';
import { claimKey, entityKey, idIn, popularityOf, reviewKey, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex, sortKeyIn } from '../table/query.ts';
import {
  averageRating,
  contentsOfTotals,
  countMatching,
  type FacetCounts,
  type FacetFilter,
  facetCounts,
  matches,
} from './counts.ts';
import {
  isByFacet,
  nearWithoutCounts,
  type Overview,
  ownerOf,
  planOf,
  type ReviewQuery,
} from './list-plan.ts';
import { contentOf, facetOf, type ReviewContent, withoutStars } from './review.ts';
import { type AuthoredReview, findListed } from './review-repository.ts';

// Lists of public reviews, with their count.

type Owner = { entity_id: string } | { user_id: string };

/** A page, the number of all matches, and for an entity its average rating. */
export interface ReviewList {
  count: number;
  reviews: AuthoredReview[];
  next?: SortKey;
  average_rating?: AverageRating;
}

/** The overview of a list, with the average of its entity. */
interface RatedOverview extends Overview {
  average_rating?: AverageRating;
}

/** Lists public reviews (spec, endpoint 2). */
export async function listReviews(query: ReviewQuery): Promise<ReviewList> {
  const { entity_id, user_id } = query;
  if (entity_id !== undefined && user_id !== undefined) {
    return listReviewOf(user_id, entity_id, query);
  }
  const owner = ownerOf(query);
  return readList(query, owner ? readOverview(query, owner) : readOverviewOfAll(query));
}

/** Lists the reviews of one entity or user. Its callers need no right to read totals. */
export async function listReviewsOf(
  owner: Owner,
  list: FacetFilter & PageRequest,
): Promise<ReviewList> {
  const key = 'entity_id' in owner ? entityKey(owner.entity_id) : userKey(owner.user_id);
  const query = { ...list, ...owner };
  return readList(query, readOverview(query, key));
}

async function readList(query: ReviewQuery, overview: Promise<RatedOverview>): Promise<ReviewList> {
  const plan = overview.then((counts) => planOf(query, counts));
  const [{ matching, average_rating }, page] = await Promise.all([
    overview,
    readPage(plan, query, nearWithoutCounts(query)),
  ]);
  const { count } = matching;
  // An author who is being erased has no counts, but may still have reviews.
  if (ownerOf(query) && count === 0) return { count, reviews: [], average_rating };
  return { count, reviews: await findListed(page.entries), next: page.next, average_rating };
}

/**
 * Reads public reviews to begin with: the most popular texts that people voted up, and the newest
 * of the others, up to `limit` of each. Two round trips.
 */
export async function findHighlights(
  limit: number,
): Promise<{ popular: AuthoredReview[]; newest: AuthoredReview[] }> {
  // Any of the newest may be popular. Popular reviews had a text when people voted on them.
  const options = { descending: true, pageSize: 2 * limit };
  const [best, latest] = await Promise.all([
    collect(queryIndex('all-by-popularity', 'REVIEW', options), 2 * limit),
    collect(queryIndex('all-by-date', 'REVIEW', options), 2 * limit),
  ]);
  const texts = best.filter(isPopularText).slice(0, limit);
  const ids = new Set(texts.map(idIn));
  const others = latest.filter((entry) => !ids.has(idIn(entry))).slice(0, limit);
  const reviews = await findListed([...texts, ...others]);
  return {
    popular: reviews.filter(({ review }) => ids.has(review.id)),
    newest: reviews.filter(({ review }) => !ids.has(review.id)),
  };
}

function isPopularText(entry: Entry): boolean {
  const hasText = withoutStars(entry.kind as ReviewContent) !== 'rating';
  return hasText && popularityOf(BigInt(sortKeyIn(entry, 'popularity'))) > 0;
}

/** Lists the ids of public reviews, oldest first. A page may have some thousand. */
export async function listReviewIds(page: { offset: number; limit: number }): Promise<string[]> {
  const query = { ...page, order: 'date', descending: false } as const;
  const matching = readContentTotals().then((totals) => countMatching(totals, {}));
  const plan = matching.then((counts) => planOf(query, { matching: counts, hasTrees: true }));
  const { entries } = await readPage(plan, query, nearWithoutCounts(query));
  return entries.map(idIn);
}

/** One user's review of one entity, found by its claim. */
async function listReviewOf(user_id: string, entityId: string, query: ReviewQuery) {
  const [claim, entity] = await getItems([claimKey(user_id, entityId), entityKey(entityId)]);
  const entries = claim ? [{ ...reviewKey(String(claim.review_id)), user_id }] : [];
  const listed = await findListed(entries);
  const reviews = listed.filter(({ review }) => matches(query, facetOf(review), contentOf(review)));
  return {
    count: reviews.length,
    reviews: reviews.slice(query.offset, query.offset + query.limit),
    average_rating: averageRating(entity),
  };
}

async function readOverviewOfAll(query: ReviewQuery): Promise<RatedOverview> {
  return { matching: countMatching(await readTotals(query), query), hasTrees: true };
}

async function readOverview(query: ReviewQuery, owner: Key): Promise<RatedOverview> {
  const item = await getItem(owner, { consistent: false });
  const counts = facetCounts(item?.deleted_at === undefined ? item : {});
  const matching = countMatching(counts, query);
  const hasTrees = item?.rank_tree === 'ready';
  if (query.entity_id === undefined) return { matching, hasTrees };
  return { matching, hasTrees, average_rating: averageRating(item) };
}

/** Reads the numbers of all public reviews, in one empty facet if the filter needs none. */
async function readTotals(query: FacetFilter): Promise<FacetCounts> {
  return isByFacet(query) ? readFacetTotals() : readContentTotals();
}

/** Reads the numbers of all public reviews by content, in one empty facet. */
async function readContentTotals(): Promise<FacetCounts> {
  const lengths = await readLengths('all');
  return new Map(contentsOfTotals.map((content) => [`|${content}`, lengths.get(content) ?? 0]));
}
