import type { Place, ReadPage } from '../../base/list/cursor.ts';
import { type Nodes, readNodes } from '../../base/list/nodes.ts';
import type { PageRequest } from '../../base/list/page-plan.ts';
import { type ListPage, readPage } from '../../base/list/read-page.ts';
import { readSums, readTotals, rootKey } from '../../base/list/totals.ts';
import { getItems } from '../../base/table/batch.ts';
import { type Entry, idIn, type Key, keyString, type SortKey } from '../../base/table/item.ts';
import { byPlace, sortKeyIn } from '../../base/table/query.ts';
import { type EntityType, typesOf } from '../entity/entity-type.ts';
import type { AverageRating } from '../entity/presented.ts';
import { claimKey, countsKey, entityKey, reviewKey } from '../keys.ts';
import { type FacetFilter, matches, type ReviewCounts } from './counts.ts';
import {
  earlyPage,
  type Overview,
  ownerOf,
  planOf,
  type ReviewQuery,
  rootsToRead,
} from './list-plan.ts';
import { completed } from './long-text.ts';
import { averageRating, countsIn, sumOfCounts, totalNames } from './owner-counts.ts';
import { readable } from './page-size.ts';
import { type AuthoredReview, findListed, findListedWhole } from './read-reviews.ts';
import { contentOf, facetOf, type WholeReview } from './review.ts';

// Lists of public reviews, with their count.

type Owner = { entity_id: string } | { user_id: string };

/** A list, and whether its page also shows the names of entities, which cost read units. */
type ReviewListQuery = ReviewQuery & { isNamed?: boolean };

/** A page, the number of all matches, and for an entity its average rating. */
export interface ReviewList extends ReadPage {
  count: number;
  reviews: AuthoredReview<WholeReview>[];
  average_rating?: AverageRating;
  /** Counts of all reviews of an entity or author, without a filter. */
  counts?: ReviewCounts;
}

/** Lists public reviews (spec, endpoint 2). */
export async function listReviews(query: ReviewListQuery): Promise<ReviewList> {
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
  list: FacetFilter & PageRequest & { isNamed?: boolean },
): Promise<ReviewList> {
  const query = { ...list, ...owner };
  const key = 'entity_id' in owner ? entityKey(owner.entity_id) : countsKey(owner.user_id);
  return readList(query, readOverview(query, key));
}

/**
 * Lists the reviews of things that are the same, as one list. A page is the first of what a page of
 * each begins with, so it has a cursor and no offset.
 */
export async function listReviewsOfSame(
  ids: readonly string[],
  list: FacetFilter & PageRequest,
): Promise<ReviewList> {
  const lists = await Promise.all(
    ids.map((entity_id) => {
      const query = { ...list, entity_id };
      return readEntries(query, readOverview(query, entityKey(entity_id)));
    }),
  );
  const count = lists.reduce((sum, each) => sum + each.count, 0);
  const average_rating = averageRating(sumOfCounts(lists.map(({ counts }) => counts)));
  const page = inOneOrder(
    lists.map(({ page }) => page),
    list,
  );
  const [entity_id] = ids;
  return { count, average_rating, ...(await readReviews(page, { ...list, entity_id })) };
}

/** Merges pages that begin at one place. Beyond the end of one, entries of it may be missing. */
function inOneOrder(pages: readonly ListPage[], request: PageRequest): ListPage {
  const { limit, order, descending } = request;
  const ends = pages.flatMap(({ next }) => next ?? []);
  const isBeyond = (key: SortKey, end: SortKey) => (descending ? key < end : key > end);
  const [end] = ends.toSorted((a, b) => (isBeyond(a, b) ? 1 : -1));
  const isRead = (entry: Entry) => end === undefined || !isBeyond(sortKeyIn(entry, order), end);
  const all = pages.flatMap(({ entries }) => entries).sort(byPlace(request));
  const certain = all.filter(isRead);
  const entries = certain.slice(0, limit);
  const last = entries.at(-1);
  const isCut = last !== undefined && certain.length > limit;
  return { entries, next: isCut ? sortKeyIn(last, order) : end };
}

/** Reads the counts of a list, the number of its matches, and the entries of a page. */
async function readEntries(query: ReviewQuery, overview: Promise<Overview>) {
  const plan = overview.then((known) => planOf(query, known));
  const [{ counts }, { count }, page] = await Promise.all([
    overview,
    plan,
    readPage(plan, query, earlyPage(query)),
  ]);
  return { counts, count: count ?? page.count ?? 0, page };
}

async function readList(query: ReviewListQuery, overview: Promise<Overview>): Promise<ReviewList> {
  const { counts, count, page } = await readEntries(query, overview);
  const average_rating = query.entity_id === undefined ? undefined : averageRating(counts);
  // An author who is being erased has no counts, but may still have reviews.
  if (ownerOf(query) && count === 0) return { count, reviews: [], average_rating, counts };
  return { count, average_rating, counts, ...(await readReviews(page, query)) };
}

/** Reads the reviews of a page, as many as it can. The rest comes with the next page. */
async function readReviews(
  { entries, next }: ListPage,
  { order, limit, entity_id, isNamed = false }: ReviewListQuery,
): Promise<ReadPage & Pick<ReviewList, 'reviews'>> {
  const places = new Map(
    entries.map((entry, i): [string, Place] => [
      idIn(entry),
      { after: sortKeyIn(entry, order), passed: i + 1 },
    ]),
  );
  const read = entries.slice(0, readable(entries, isNamed && entity_id === undefined));
  const reviews = await findListedWhole(read);
  const page = { reviews, places: reviews.map(({ review }) => places.get(review.id) as Place) };
  const last = read.at(-1);
  const isCut = last !== undefined && read.length < entries.length;
  const after = isCut ? sortKeyIn(last, order) : next;
  const isShort = after !== undefined && read.length < limit;
  return { ...page, next: after, limit: isShort ? read.length : undefined };
}

/** Lists the ids of public reviews, oldest first. A page may have some thousand. */
export async function listReviewIds(page: { offset: number; limit: number }): Promise<string[]> {
  const query = { ...page, order: 'date', descending: false } as const;
  const plan = readOverviewOfAll(query).then((overview) => planOf(query, overview));
  const { entries } = await readPage(plan, query, earlyPage(query));
  return entries.map(idIn);
}

/** One user's review of one entity, found by its claim. */
async function listReviewOf(user_id: string, entityId: string, query: ReviewQuery) {
  const [claim, entity] = await getItems([claimKey(user_id, entityId), entityKey(entityId)]);
  const entries = claim ? [{ ...reviewKey(String(claim.review_id)), user_id }] : [];
  const listed = await completed(await findListed(entries));
  const reviews = listed.filter(({ review }) => matches(query, facetOf(review), contentOf(review)));
  return {
    count: reviews.length,
    reviews: reviews.slice(query.offset, query.offset + query.limit),
    average_rating: averageRating(countsIn(entity)),
  };
}

/** Counts of public reviews by type, without types that have none. They lag by a moment. */
type CountsOfAll = Map<EntityType, ReviewCounts>;

/**
 * Reads the counts of all public reviews, with languages. With a `language` only that one counts,
 * and for a list of one type only that type.
 */
export async function readCountsByLanguage({
  entity_type,
  language,
}: FacetFilter = {}): Promise<CountsOfAll> {
  const types = entity_type === undefined ? [] : typesOf(entity_type);
  const attributes = language === undefined ? undefined : totalNames([language]);
  return countsOfAll(
    await readTotals({ types: types.length === 1 ? types : undefined, attributes }),
  );
}

/** Reads the counts of all public reviews, without languages, which take most of their CPU. */
export async function readCounts(): Promise<CountsOfAll> {
  const [counts] = await readCountsAndNodes();
  return counts;
}

async function readCountsAndNodes(keys: readonly Key[] = []): Promise<[CountsOfAll, Nodes]> {
  const { sums, nodes } = await readSums(keys);
  const attributes = totalNames([]);
  return [countsOfAll(sums ? Object.entries(sums) : await readTotals({ attributes })), nodes];
}

function countsOfAll(totals: Iterable<[type: string, counts: object]>): CountsOfAll {
  return new Map(
    [...totals].flatMap(([type, item]) => {
      const counts = countsIn({ ...item });
      const types = new Map([[type as EntityType, counts.all]]);
      return counts.all > 0 ? [[type as EntityType, { ...counts, types }] as const] : [];
    }),
  );
}

/** Reads the number of all public reviews. It lags by a moment. */
export async function countReviews(): Promise<number> {
  return sumOfCounts([...(await readCounts()).values()]).all;
}

async function readOverviewOfAll(query: ReviewQuery): Promise<Overview> {
  const keys = rootsToRead(query).map(rootKey);
  const [byType, roots] = await (query.language === undefined
    ? readCountsAndNodes(keys)
    : Promise.all([readCountsByLanguage(query), readNodes(keys)]));
  return { counts: sumOfCounts([...byType.values()]), byType, hasTrees: true, roots };
}

async function readOverview(query: ReviewQuery, owner: Key): Promise<Overview> {
  const keys = [owner, ...rootsToRead(query).map(rootKey)];
  const items = await getItems(keys);
  const [item] = items;
  return {
    counts: countsIn(item),
    hasTrees: item?.rank_tree === 'ready',
    roots: new Map(keys.map((key, i) => [keyString(key), items[i]])),
  };
}
