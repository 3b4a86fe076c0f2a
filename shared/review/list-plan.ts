import { typesOf } from '../entity/entity-type.ts';
import type { Partition, Tree } from '../list/descend.ts';
import { reviewContents } from '../list/rank-tree.ts';
import {
  type Filter,
  type ListPlan,
  nearPageOf,
  type PageRequest,
  type PartitionStart,
} from '../list/read-page.ts';
import type { Entry, Key } from '../table/item.ts';
import { entityKey, userKey } from '../table/keys.ts';
import { type FacetFilter, type Matching, matches } from './counts.ts';
import type { ReviewContent } from './review.ts';

// The way to read a page of reviews, decided from the query and the counts of the list.

export interface ReviewQuery extends FacetFilter, PageRequest {
  entity_id?: string;
  user_id?: string;
}

/** Counts of a list, read before any entry. */
export interface Overview {
  matching: Matching;
  /** True if the list is long enough for rank trees. */
  hasTrees: boolean;
}

/** Most reviews have a text, and most a rating: the estimated share of `review_type`. */
const shareWithContent = 0.8;

/**
 * Decides how to read a page of reviews: from the start of one partition, by rank trees, or from
 * short partitions. aggregates/contribution.ts lists the trees.
 */
export function planOf(query: ReviewQuery, { matching, hasTrees }: Overview): ListPlan {
  const { after, offset } = query;
  const owner = ownerOf(query);
  // Counts of all reviews lag behind, so their first page is always read.
  const isBeyondEnd = after === undefined && offset > 0 && offset >= matching.count;
  if (isBeyondEnd || (owner && matching.count === 0)) return { partitions: [] };

  const list = owner?.pk ?? 'all';
  const partition = partitionOf(query);
  const contents = contentsOf(query);
  if (!isByFacet(query)) {
    const trees = [{ list, partition, contents }];
    return planOne(query, partition, contentFilter(query), hasTrees ? trees : undefined);
  }

  // Counts of an owner are exact. Among all reviews, a facet may just have got its first.
  const facets = [...matching.facets].filter(([, { count }]) => count > 0 || !owner);
  const selectivity = Math.max(1, matching.count) / Math.max(1, matching.all);
  const accept = acceptOf(query);
  // If most match, reading all and filtering is cheaper than merging many partitions.
  if (owner || selectivity > 0.5) {
    const trees: Tree[] = facets.map(([facet]) => ({
      list: `${list}|${facet}`,
      partition,
      contents,
    }));
    // The tree of the whole list counts entries of other facets in between.
    trees.push({ list, partition, contents: new Set() });
    return planOne(query, partition, { accept, selectivity }, hasTrees ? trees : undefined);
  }

  const trees = facets.map(([facet]) => ({
    list: `${list}|${facet}`,
    partition: { scope: 'facet', value: facet } as const,
    contents,
  }));
  const [only, ...others] = trees;
  if (only && others.length === 0) return planOne(query, only.partition, { accept }, trees);
  return { trees, partitions: trees.map((tree) => tree.partition), accept };
}

/**
 * Returns the way to read a page near the start of its list, if no count is needed to know the
 * partition. None is needed without a filter by facet, or for one type and language of all reviews.
 */
export function nearWithoutCounts(query: ReviewQuery): PartitionStart | undefined {
  if (!isByFacet(query)) return nearPageOf(partitionOf(query), contentFilter(query), query);
  const { entity_type, language } = query;
  const [type, ...otherTypes] = entity_type === undefined ? [] : typesOf(entity_type);
  if (ownerOf(query) || !type || otherTypes.length > 0 || !language) return undefined;
  return nearPageOf({ scope: 'facet', value: `${type}|${language}` }, contentFilter(query), query);
}

/** Returns the key of the entity or user whose reviews are listed. */
export function ownerOf({ entity_id, user_id }: ReviewQuery): Key | undefined {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : userKey(user_id);
}

/** Returns true if the filter needs counts by facet. Only these distinguish stars. */
export function isByFacet({ entity_type, language, rating }: FacetFilter): boolean {
  return (entity_type ?? language ?? rating) !== undefined;
}

/** A list in one partition. Without trees it is short, and read whole. */
function planOne(
  query: ReviewQuery,
  partition: Partition,
  filter: Filter,
  trees: readonly Tree[] | undefined,
): ListPlan {
  const near = trees && nearPageOf(partition, filter, query);
  return { near, trees, partitions: [partition], ...filter };
}

/** Returns the partition that holds the list, without filters. */
function partitionOf({ entity_id, user_id }: ReviewQuery): Partition {
  if (entity_id !== undefined) return { scope: 'entity', value: entity_id };
  if (user_id !== undefined) return { scope: 'author', value: user_id };
  return { scope: 'all', value: 'REVIEW' };
}

/** Returns the contents that match, as the trees count them. */
function contentsOf({ review_type, rating }: FacetFilter): Set<ReviewContent> {
  return new Set(reviewContents.filter((content) => matches({ review_type, rating }, '', content)));
}

/** The filter by content alone, which is cheap in a known partition. */
function contentFilter(query: ReviewQuery): Filter {
  if (query.review_type === undefined) return {};
  return { accept: acceptOf(query), selectivity: shareWithContent };
}

function acceptOf(query: FacetFilter): (entry: Entry) => boolean {
  // A list has few different facets and contents.
  const results = new Map<string, boolean>();
  return ({ facet = '', kind: content }) => {
    const name = `${facet}|${content}`;
    const isMatch = results.get(name) ?? matches(query, facet, content as ReviewContent);
    results.set(name, isMatch);
    return isMatch;
  };
}
