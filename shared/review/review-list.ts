import { averageRating } from '../entity/entity.ts';
import { typesOf } from '../entity/entity-type.ts';
import type { AverageRating } from '../entity/presented.ts';
import type { Partition } from '../list/descend.ts';
import {
  type List,
  type NearList,
  type Page,
  type PageRequest,
  readPage,
} from '../list/read-page.ts';
import { readFacetTotals, readLengths } from '../list/totals.ts';
import { getItems } from '../table/batch.ts';
import type { Entry, Key, SortKey } from '../table/item.ts';
import { claimKey, entityKey, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import {
  countMatching,
  type FacetCounts,
  type FacetFilter,
  facetCounts,
  kinds,
  kindsOfTotals,
  type Matching,
  matches,
} from './counts.ts';
import { facetOf, isPublic, type Kind, kindOf, toReference } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** What the review list is asked for (spec, endpoint 2). */
export interface ReviewQuery extends FacetFilter, PageRequest {
  entity_id?: string;
  user_id?: string;
}

/**
 * A page of the list, the number of all reviews that match, and for an entity the average of its ratings. `next` is the place
 * after which the next page begins; there is none after the last page.
 */
export interface ReviewList {
  count: number;
  reviews: AuthoredReview[];
  next?: SortKey;
  average_rating?: AverageRating;
}

/** What is known of a list before any entry is read. */
interface Overview {
  matching: Matching;
  /** Whether the list of an entity or author is long enough to have rank trees. */
  hasTrees: boolean;
  average_rating?: AverageRating;
}

/** One page of the reviews that match. */
export async function listReviews(query: ReviewQuery): Promise<ReviewList> {
  const { entity_id, user_id } = query;
  if (entity_id !== undefined && user_id !== undefined) {
    return listReviewOf(user_id, entity_id, query);
  }
  const overview = readOverview(query);
  const [{ matching, average_rating }, page] = await Promise.all([
    overview,
    readPage(
      overview.then((known) => listOf(query, known)),
      query,
      nearOf(query),
    ),
  ]);
  const { count } = matching;
  // Of an author who is being erased nothing counts, though some of it is still there.
  const isGone = ownerKey(query) !== undefined && count === 0;
  const { entries, next }: Page = isGone ? { entries: [] } : page;
  const reviews = await findReviews(entries.map(toReference));
  return {
    count,
    reviews: reviews.filter(({ review }) => isPublic(review)),
    next,
    average_rating,
  };
}

/** The newest public reviews, for whom neither their number nor a next page matters. */
export async function findNewest(limit: number): Promise<AuthoredReview[]> {
  const newest = queryIndex('all-by-date', 'REVIEW', { descending: true, pageSize: limit });
  const reviews = await findReviews((await collect(newest, limit)).map(toReference));
  return reviews.filter(({ review }) => isPublic(review));
}

/** The list of one user's review of one entity: the claim leads to it. */
async function listReviewOf(
  userId: string,
  entityId: string,
  query: ReviewQuery,
): Promise<ReviewList> {
  const [claim, entity] = await getItems([claimKey(userId, entityId), entityKey(entityId)]);
  const found = claim
    ? await findReviews([{ review_id: String(claim.review_id), user_id: userId }])
    : [];
  const reviews = found.filter(
    ({ review }) => isPublic(review) && matches(query, facetOf(review), kindOf(review)),
  );
  return {
    count: reviews.length,
    reviews: reviews.slice(query.offset, query.offset + query.limit),
    average_rating: averageRating(entity),
  };
}

/** The list in the partition that holds it and little else, where that is known without counts. */
function nearOf(query: ReviewQuery): NearList | undefined {
  const { entity_type, language } = query;
  if (!isByFacet(query)) return { partition: widestPartition(query), ...ofContents(query) };
  if (ownerKey(query)) return undefined;
  const types = entity_type === undefined ? [] : typesOf(entity_type);
  if (types.length !== 1 || language === undefined) return undefined;
  const partition = { scope: 'facet', value: `${types[0]}|${language}` } as const;
  return { partition, ...ofContents(query) };
}

/** The partition of the entity, the author or all. */
function widestPartition({ entity_id, user_id }: ReviewQuery): Partition {
  if (entity_id !== undefined) return { scope: 'entity', value: entity_id };
  if (user_id !== undefined) return { scope: 'author', value: user_id };
  return { scope: 'all', value: 'REVIEW' };
}

/** Most reviews have a text, and most a rating: a filter by these costs little where the partition is known. */
function ofContents(query: ReviewQuery): Pick<List, 'accept' | 'selectivity'> {
  return query.review_type === undefined ? {} : { accept: acceptOf(query), selectivity: 0.8 };
}

async function readOverview(query: ReviewQuery): Promise<Overview> {
  const key = ownerKey(query);
  if (!key) return { matching: countMatching(await readTotals(query), query), hasTrees: true };
  const item = await getItem(key, { consistent: false });
  const counts = facetCounts(item?.deleted_at === undefined ? item : {});
  return {
    matching: countMatching(counts, query),
    hasTrees: item?.rank_tree === 'ready',
    ...(query.entity_id !== undefined && { average_rating: averageRating(item) }),
  };
}

/** Numbers of all public reviews; without a type or language in the filter under one facet that stands for all, the empty one. */
async function readTotals(query: FacetFilter): Promise<FacetCounts> {
  if (isByFacet(query)) return readFacetTotals();
  const lengths = await readLengths('all');
  return new Map(kindsOfTotals.map((kind) => [`|${kind}`, lengths.get(kind) ?? 0]));
}

/** The item that counts the reviews of the entity or author asked for. */
function ownerKey({ entity_id, user_id }: ReviewQuery): Key | undefined {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : userKey(user_id);
}

/** Whether the filter needs the counts by facet, in which alone stars are told apart. */
function isByFacet({ entity_type, language, rating }: FacetFilter): boolean {
  return (entity_type ?? language ?? rating) !== undefined;
}

/** Where the entries lie, as the counts tell: see aggregates/contribution.ts for the lists that have rank trees. */
function listOf(query: ReviewQuery, { matching, hasTrees }: Overview): List {
  const { after, offset } = query;
  const owner = ownerKey(query);
  // The counts of all reviews follow the stream: what they do not know yet is on the first page.
  const isBehind = after === undefined && offset > 0 && offset >= matching.count;
  if (isBehind || (owner && matching.count === 0)) return { partitions: [] };
  const list = owner?.pk ?? 'all';
  const whole = widestPartition(query);
  const { review_type, rating } = query;
  const contents = new Set(kinds.filter((kind) => matches({ review_type, rating }, '', kind)));
  const accept = acceptOf(query);
  if (!isByFacet(query)) {
    return {
      partitions: [whole],
      ...ofContents(query),
      trees: hasTrees ? [{ list, partition: whole, contents }] : undefined,
    };
  }

  // The counts of an owner are exact; of all reviews, a facet may have got its first a moment ago.
  const facets = [...matching.facets].filter(([, { count }]) => count > 0 || !owner);
  const selectivity = Math.max(1, matching.count) / Math.max(1, matching.all);
  // Where most reviews match, to read all and leave out the others is cheaper than to merge many partitions.
  if (owner || selectivity > 0.5) {
    const trees = [
      ...facets.map(([facet]) => ({ list: `${list}|${facet}`, partition: whole, contents })),
      // Counts what lies between.
      { list, partition: whole, contents: new Set<Kind>() },
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
  // The entries of a list have few different facets and kinds.
  const known = new Map<string, boolean>();
  return ({ facet = '', kind }) => {
    const name = `${facet}|${kind}`;
    const isMatch = known.get(name) ?? matches(query, facet, kind as Kind);
    known.set(name, isMatch);
    return isMatch;
  };
}
