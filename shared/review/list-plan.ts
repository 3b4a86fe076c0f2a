import { type EntityType, entityTypes, typesOf } from '../entity/entity-type.ts';
import type { Partition, Tree } from '../list/descend.ts';
import { reviewContents } from '../list/rank-tree.ts';
import {
  type Filter,
  type ListPlan,
  type NearPage,
  nearPageOf,
  type PageRequest,
} from '../list/read-page.ts';
import type { Entry, Key } from '../table/item.ts';
import { countsKey, entityKey } from '../table/keys.ts';
import {
  countMatching,
  type FacetFilter,
  type Matching,
  matches,
  matchesContent,
  matchesType,
  type ReviewCounts,
} from './counts.ts';
import { sumOfCounts } from './owner-counts.ts';
import { type ReviewContent, readKind } from './review.ts';

// The way to read a page of reviews, decided from the query and the counts of the list. A list has
// a partition and a tree for each type or each facet in it, so no page needs more than there are
// types.

export interface ReviewQuery extends FacetFilter, PageRequest {
  entity_id?: string;
  user_id?: string;
}

/** Counts of the list without its filter, read before any entry. */
export interface Overview {
  counts: ReviewCounts;
  /** Counts of all reviews by type. Absent for the reviews of an entity or author. */
  byType?: ReadonlyMap<EntityType, ReviewCounts>;
  /** True if the list is long enough for rank trees. */
  hasTrees: boolean;
}

/** A plan, and the number of matches if the counts tell it. */
export interface ReviewPlan extends ListPlan {
  count: number | undefined;
}

/** Most reviews have a text, and most a rating: the estimated share of `review_type`. */
const shareWithContent = 0.8;

/** The partition of all reviews. */
const wholeList: Partition = { scope: 'all', value: 'REVIEW' };

/** Decides how to read a page of reviews. aggregates/contribution.ts lists the trees. */
export function planOf(query: ReviewQuery, overview: Overview): ReviewPlan {
  const owner = ownerOf(query);
  const plan = owner ? planOwned(query, owner, overview) : planAll(query, overview);
  const { after, offset } = query;
  const { count = Number.POSITIVE_INFINITY } = plan;
  // Counts of all reviews lag behind, so their first page is always read.
  const isBeyondEnd = after === undefined && offset > 0 && offset >= count;
  const isEmpty = isBeyondEnd || (owner !== undefined && count === 0);
  return isEmpty ? { partitions: [], count: plan.count } : plan;
}

/** Reviews of an entity or author lie in one partition, which a filter sifts. */
function planOwned(query: ReviewQuery, owner: Key, { counts, hasTrees }: Overview): ReviewPlan {
  const matching = countMatching(counts, query);
  const { count, share } = matching;
  const partition = partitionOf(query);
  const list = {
    partitions: [partition],
    ...(share < 1 && { accept: acceptOf(query), selectivity: share }),
    count,
  };
  if (!hasTrees) return { ...list, isCounted: count === undefined };
  const trees = treesOf(query, owner, counts, matching).map((tree) => ({ ...tree, partition }));
  return { ...list, near: nearPageOf([partition], list, query), trees };
}

/**
 * The trees of an owner: one of all reviews, and one of each type and each facet, which also tell
 * stars apart. A tree without contents counts what lies between the matches.
 */
function treesOf(
  query: ReviewQuery,
  { pk }: Key,
  { types }: ReviewCounts,
  matching: Matching,
): Omit<Tree, 'partition'>[] {
  const contents = contentsOf(query);
  const isSifted = Math.min(matching.types, matching.languages) < matching.all;
  if (!isSifted && query.rating === undefined) return [{ list: pk, contents }];
  const facet = matching.languages < matching.all ? `|${query.language}` : '';
  const trees = [...types.keys()]
    .filter((type) => matchesType(query, type))
    .map((type) => ({ list: `${pk}|${type}${facet}`, contents }));
  return isSifted ? [...trees, { list: pk, contents: new Set<ReviewContent>() }] : trees;
}

/** All reviews lie in one partition, and in one for each type and each facet. */
function planAll(query: ReviewQuery, { counts, byType = new Map() }: Overview): ReviewPlan {
  const { entity_type, language } = query;
  const contents = contentsOf(query);
  const types = entity_type === undefined ? entityTypes : typesOf(entity_type);
  const isByType = isByFacet(query);
  const filled = types.flatMap((type) => {
    const ofType = byType.get(type);
    const isFilled = ofType && (language === undefined || ofType.languages.has(language));
    return isFilled ? [{ type, counts: ofType }] : [];
  });
  const trees = filled.map(({ type }): Tree => {
    const partition = partitionOfAll(type, language);
    const list = `all|${partition.value}`;
    return { list, partition: isByType ? partition : wholeList, contents };
  });
  const matching = countMatching(sumOfCounts(filled.map((each) => each.counts)), query);
  const filter = contentFilter(query);
  const plan = { trees, partitions: [wholeList], ...filter, count: matching.count };
  if (!isByType) return { ...plan, near: nearPageOf([wholeList], filter, query) };
  // If most match, reading all and filtering is cheaper than merging many partitions.
  const share = matching.languages / Math.max(1, counts.all);
  if (types.length > 1 && share > 0.5) {
    const sifted = { accept: acceptOf(query), selectivity: share * (filter.selectivity ?? 1) };
    return { ...plan, near: nearPageOf([wholeList], sifted, query) };
  }
  // The first review of a type or facet is in no count yet.
  const partitions = types.map((type) => partitionOfAll(type, language));
  return { ...plan, near: nearPageOf(partitions, filter, query, filled.length) };
}

/**
 * Returns the way to read a page near the start of its list, if no count is needed to know the
 * partition. None is needed without a filter by facet, or for one type of all reviews.
 */
export function nearWithoutCounts(query: ReviewQuery): NearPage | undefined {
  if (!isByFacet(query)) return nearPageOf([partitionOf(query)], contentFilter(query), query);
  const { entity_type, language } = query;
  const [type, ...otherTypes] = entity_type === undefined ? [] : typesOf(entity_type);
  if (ownerOf(query) || !type || otherTypes.length > 0) return undefined;
  return nearPageOf([partitionOfAll(type, language)], contentFilter(query), query);
}

function partitionOfAll(type: EntityType, language: string | undefined): Partition {
  return language === undefined
    ? { scope: 'type', value: type }
    : { scope: 'facet', value: `${type}|${language}` };
}

/** Returns the key of the item that counts the reviews of the listed entity or user. */
export function ownerOf({ entity_id, user_id }: ReviewQuery): Key | undefined {
  if (entity_id !== undefined) return entityKey(entity_id);
  return user_id === undefined ? undefined : countsKey(user_id);
}

/** Returns true if the filter is by type, language or stars, not by content alone. */
function isByFacet({ entity_type, language, rating }: FacetFilter): boolean {
  return (entity_type ?? language ?? rating) !== undefined;
}

/** Returns the partition that holds the list, without filters. */
function partitionOf({ entity_id, user_id }: ReviewQuery): Partition {
  if (entity_id !== undefined) return { scope: 'entity', value: entity_id };
  if (user_id !== undefined) return { scope: 'author', value: user_id };
  return wholeList;
}

/** Returns the contents that match, as the trees count them. */
function contentsOf(query: FacetFilter): Set<ReviewContent> {
  return new Set(reviewContents.filter((content) => matchesContent(query, content)));
}

/** The filter by content alone, which is cheap in a known partition. */
function contentFilter(query: ReviewQuery): Filter {
  if (query.review_type === undefined) return {};
  return { accept: acceptOf(query), selectivity: shareWithContent };
}

function acceptOf(query: FacetFilter): (entry: Entry) => boolean {
  // A list has few different facets and contents.
  const results = new Map<string, boolean>();
  return ({ facet = '', kind = '' }) => {
    const name = `${facet}|${kind}`;
    const isMatch = results.get(name) ?? matches(query, facet, readKind(kind).content);
    results.set(name, isMatch);
    return isMatch;
  };
}
