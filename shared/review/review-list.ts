import { typesOf } from '../entity/entity-type.ts';
import type { AverageRating } from '../entity/presented.ts';
import type { Partition } from '../list/descend.ts';
import { reviewContents } from '../list/rank-tree.ts';
import {
  type List,
  type ListPage,
  type NearList,
  type PageRequest,
  readPage,
} from '../list/read-page.ts';
import { readFacetTotals, readLengths } from '../list/totals.ts';
import { getItems } from '../table/batch.ts';
import type { Entry, Key, SortKey } from '../table/item.ts';
import { claimKey, entityKey, reviewKey, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import {
  averageRating,
  contentsOfTotals,
  countMatching,
  type FacetCounts,
  type FacetFilter,
  facetCounts,
  type Matching,
  matches,
} from './counts.ts';
import { contentOf, facetOf, type ReviewContent } from './review.ts';
import { type AuthoredReview, findListed } from './review-repository.ts';

interface ListRequest extends FacetFilter, PageRequest {}

export interface ReviewQuery extends ListRequest {
  entity_id?: string;
  user_id?: string;
}

type Owner = { entity_id: string } | { user_id: string };

/** A page, the number of all matches, and for an entity its average rating. */
export interface ReviewList {
  count: number;
  reviews: AuthoredReview[];
  next?: SortKey;
  average_rating?: AverageRating;
}

/** Counts, known before any entry is read. */
interface Overview {
  matching: Matching;
  /** True if the list is long enough for rank trees. */
  hasTrees: boolean;
  average_rating?: AverageRating;
}

/** Lists public reviews (spec, endpoint 2). */
export async function listReviews(query: ReviewQuery): Promise<ReviewList> {
  const { entity_id, user_id } = query;
  if (entity_id !== undefined && user_id !== undefined) {
    return listReviewOf(user_id, entity_id, query);
  }
  const key = ownerKey(query);
  return readList(query, key ? readOverview(query, key) : readOverviewOfAll(query));
}

/** One page of the reviews of an entity or by a user. */
export async function listReviewsOf(owner: Owner, query: ListRequest): Promise<ReviewList> {
  const key = 'entity_id' in owner ? entityKey(owner.entity_id) : userKey(owner.user_id);
  const all = { ...query, ...owner };
  return readList(all, readOverview(all, key));
}

async function readList(query: ReviewQuery, overview: Promise<Overview>): Promise<ReviewList> {
  const list = overview.then((known) => listOf(query, known));
  const [{ matching, average_rating }, page] = await Promise.all([
    overview,
    readPage(list, query, nearOf(query)),
  ]);
  const { count } = matching;
  // An author who is being erased has no counts, but may still have reviews.
  const isGone = ownerKey(query) !== undefined && count === 0;
  const { entries, next }: ListPage = isGone ? { entries: [] } : page;
  return { count, reviews: await findListed(entries), next, average_rating };
}

/** Reads the newest public reviews, without their number and a next page. */
export async function findNewest(limit: number): Promise<AuthoredReview[]> {
  const newest = queryIndex('all-by-date', 'REVIEW', { descending: true, pageSize: limit });
  return findListed(await collect(newest, limit));
}

/** One user's review of one entity, found by its claim. */
async function listReviewOf(user_id: string, entityId: string, query: ReviewQuery) {
  const [claim, entity] = await getItems([claimKey(user_id, entityId), entityKey(entityId)]);
  const found = claim ? [{ ...reviewKey(String(claim.review_id)), user_id }] : [];
  const reviews = (await findListed(found)).filter(({ review }) =>
    matches(query, facetOf(review), contentOf(review)),
  );
  return {
    count: reviews.length,
    reviews: reviews.slice(query.offset, query.offset + query.limit),
    average_rating: averageRating(entity),
  };
}

/** Returns the partition that holds the list and little else, if it is known without counts. */
function nearOf(query: ReviewQuery): NearList | undefined {
  const { entity_type, language } = query;
  if (!isByFacet(query)) return { partition: widestPartition(query), ...ofContents(query) };
  if (ownerKey(query)) return undefined;
  const types = entity_type === undefined ? [] : typesOf(entity_type);
  if (types.length !== 1 || language === undefined) return undefined;
  const partition = { scope: 'facet', value: `${types[0]}|${language}` } as const;
  return { partition, ...ofContents(query) };
}

function widestPartition({ entity_id, user_id }: ReviewQuery): Partition {
  if (entity_id !== undefined) return { scope: 'entity', value: entity_id };
  if (user_id !== undefined) return { scope: 'author', value: user_id };
  return { scope: 'all', value: 'REVIEW' };
}

/** Most reviews have a text, and most a rating, so this filter is cheap in a known partition. */
function ofContents(query: ReviewQuery): Pick<List, 'accept' | 'selectivity'> {
  return query.review_type === undefined ? {} : { accept: acceptOf(query), selectivity: 0.8 };
}

async function readOverviewOfAll(query: ReviewQuery): Promise<Overview> {
  return { matching: countMatching(await readTotals(query), query), hasTrees: true };
}

async function readOverview(query: ReviewQuery, key: Key): Promise<Overview> {
  const item = await getItem(key, { consistent: false });
  const counts = facetCounts(item?.deleted_at === undefined ? item : {});
  return {
    matching: countMatching(counts, query),
    hasTrees: item?.rank_tree === 'ready',
    ...(query.entity_id !== undefined && { average_rating: averageRating(item) }),
  };
}

/** Reads the numbers of all public reviews, in one empty facet if the filter needs none. */
async function readTotals(query: FacetFilter): Promise<FacetCounts> {
  if (isByFacet(query)) return readFacetTotals();
  const lengths = await readLengths('all');
  return new Map(contentsOfTotals.map((kind) => [`|${kind}`, lengths.get(kind) ?? 0]));
}

function ownerKey({ entity_id, user_id }: ReviewQuery): Key | undefined {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : userKey(user_id);
}

/** Returns true if the filter needs counts by facet. Only these distinguish stars. */
function isByFacet({ entity_type, language, rating }: FacetFilter): boolean {
  return (entity_type ?? language ?? rating) !== undefined;
}

/** Chooses partitions and rank trees by the counts. aggregates/contribution.ts lists the trees. */
function listOf(query: ReviewQuery, { matching, hasTrees }: Overview): List {
  const { after, offset } = query;
  const owner = ownerKey(query);
  // Counts of all reviews lag behind, so their first page is always read.
  const isBehind = after === undefined && offset > 0 && offset >= matching.count;
  if (isBehind || (owner && matching.count === 0)) return { partitions: [] };
  const list = owner?.pk ?? 'all';
  const whole = widestPartition(query);
  const { review_type, rating } = query;
  const byKind = { review_type, rating };
  const contents = new Set(reviewContents.filter((kind) => matches(byKind, '', kind)));
  const accept = acceptOf(query);
  if (!isByFacet(query)) {
    const trees = hasTrees ? [{ list, partition: whole, contents }] : undefined;
    return { partitions: [whole], ...ofContents(query), trees };
  }

  // Counts of an owner are exact. Among all reviews, a facet may just have got its first.
  const facets = [...matching.facets].filter(([, { count }]) => count > 0 || !owner);
  const selectivity = Math.max(1, matching.count) / Math.max(1, matching.all);
  // If most match, reading all and filtering is cheaper than merging many partitions.
  if (owner || selectivity > 0.5) {
    const trees = [
      ...facets.map(([facet]) => ({ list: `${list}|${facet}`, partition: whole, contents })),
      // Counts entries of other facets in between.
      { list, partition: whole, contents: new Set<ReviewContent>() },
    ];
    return { partitions: [whole], accept, selectivity, trees: hasTrees ? trees : undefined };
  }
  const trees = facets.map(([facet]) => ({
    list: `${list}|${facet}`,
    partition: { scope: 'facet', value: facet } as const,
    contents,
  }));
  return { partitions: trees.map(({ partition }) => partition), accept, trees };
}

function acceptOf(query: FacetFilter): (entry: Entry) => boolean {
  // A list has few different facets and contents.
  const known = new Map<string, boolean>();
  return ({ facet = '', kind }) => {
    const name = `${facet}|${kind}`;
    const isMatch = known.get(name) ?? matches(query, facet, kind as ReviewContent);
    known.set(name, isMatch);
    return isMatch;
  };
}
