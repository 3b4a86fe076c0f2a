import type { Partition, Tree } from '../../base/list/descend.ts';
import type { Nodes } from '../../base/list/nodes.ts';
import {
  type Filter,
  type ListPlan,
  type NearPage,
  nearByRoots,
  nearInOne,
  nearInSeveral,
  type PageRequest,
} from '../../base/list/page-plan.ts';
import { reviewContents } from '../../base/list/rank-tree.ts';
import { countInRoots } from '../../base/list/totals.ts';
import type { Entry, Key } from '../../base/table/item.ts';
import { type EntityType, entityTypes, typesOf } from '../entity/entity-type.ts';
import { countsKey, entityKey } from '../keys.ts';
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

// The way to read a page of reviews, in the order in which it is decided. `earlyPage` needs the
// query alone, and is read beside the counts. `planOf` adds the ways that need counts, for a page
// that the first does not reach. A list has a partition and a tree for each type or each facet in
// it, so no page needs more than there are types.

export interface ReviewQuery extends FacetFilter, PageRequest {
  entity_id?: string;
  user_id?: string;
}

/** Counts and roots of trees, read before any entry of a list. */
export interface Overview {
  /** Counts of the list without its filter. */
  counts: ReviewCounts;
  /** Counts of all reviews by type. Absent for the reviews of an entity or author. */
  byType?: ReadonlyMap<EntityType, ReviewCounts>;
  /** True if the list is long enough for rank trees. */
  hasTrees: boolean;
  /** The roots of `rootsToRead`, by `keyString`. */
  roots: Nodes;
}

/** A plan, and the number of matches if it is known without reading entries. */
interface ReviewPlan extends ListPlan {
  count: number | undefined;
}

/** Most reviews have a text, and most a rating: the estimated share of `review_type`. */
const shareWithContent = 0.8;

/** The partition of all reviews. */
const wholeList: Partition = { scope: 'all', value: 'REVIEW' };

/**
 * Returns the way to read a page near the start of its list, if no count is needed to know the
 * partition. None is needed without a filter by facet, or for one type of all reviews.
 */
export function earlyPage(query: ReviewQuery): NearPage | undefined {
  if (!isByFacet(query)) return nearInOne(wholePartition(query), contentFilter(query), query);
  const [only, ...others] = partitionsOf(query);
  if (ownerOf(query) || !only || others.length > 0) return undefined;
  return nearInOne(only, contentFilter(query), query);
}

/**
 * Returns the lists whose roots are read together with the counts, so that a page far down a list
 * takes no further round trip. A page near the start of a list without filters needs none.
 */
export function rootsToRead(query: ReviewQuery): string[] {
  const { entity_type, language, review_type } = query;
  const owner = ownerOf(query)?.pk;
  const partitions = partitionsOf(query);
  if (owner === undefined) {
    const near = earlyPage(query) ?? nearInSeveral(partitions, query);
    return near && review_type === undefined ? [] : partitions.map(({ value }) => `all|${value}`);
  }
  if ((entity_type ?? language) !== undefined) {
    return [owner, ...partitions.map(({ value }) => `${owner}|${value}`)];
  }
  return isByFacet(query) || review_type !== undefined || !earlyPage(query) ? [owner] : [];
}

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
function planOwned(
  query: ReviewQuery,
  owner: Key,
  { counts, hasTrees, roots }: Overview,
): ReviewPlan {
  const matching = countMatching(counts, query);
  const { all, count, share } = matching;
  const partition = wholePartition(query);
  const filter = count === all ? {} : { accept: acceptOf(query), selectivity: share };
  const list = { partitions: [partition], ...filter };
  if (!hasTrees) return { ...list, count, isCounted: count === undefined };
  const trees = treesOf(query, owner, counts, matching).map((tree) => ({ ...tree, partition }));
  const near = filter.accept
    ? nearByRoots([partition], { ...filter, trees, roots }, query)
    : nearInOne(partition, {}, query);
  const isPlanned = near && !earlyPage(query);
  return {
    ...list,
    near: isPlanned ? [near] : [],
    trees,
    roots,
    count: count ?? countInRoots(roots, trees),
  };
}

/**
 * The trees of an owner: one of all reviews, and one of each type and each facet. A tree without
 * contents counts what lies between the matches.
 */
function treesOf(
  query: ReviewQuery,
  { pk }: Key,
  { types }: ReviewCounts,
  matching: Matching,
): Omit<Tree, 'partition'>[] {
  const contents = contentsOf(query);
  const isSifted = Math.min(matching.types, matching.languages) < matching.all;
  if (!isSifted) return [{ list: pk, contents }];
  const facet = query.language === undefined ? '' : `|${query.language}`;
  const trees = [...types.keys()]
    .filter((type) => matchesType(query, type))
    .map((type) => ({ list: `${pk}|${type}${facet}`, contents }));
  return [...trees, { list: pk, contents: new Set() }];
}

/** All reviews lie in one partition, and in one for each type and each facet. */
function planAll(query: ReviewQuery, { counts, byType, roots }: Overview): ReviewPlan {
  const { language } = query;
  const contents = contentsOf(query);
  const filled = [...(byType ?? [])].filter(
    ([type, { languages }]) =>
      matchesType(query, type) && (language === undefined || languages.has(language)),
  );
  const trees = filled.map(([type]): Tree => {
    const own = partitionOf(type, language);
    return { list: `all|${own.value}`, partition: isByFacet(query) ? own : wholeList, contents };
  });
  const matching = countMatching(sumOfCounts(filled.map(([, ofType]) => ofType)), query);
  return {
    near: nearOfAll(query, { counts, trees, roots, inFacets: matching.languages }),
    trees,
    roots,
    partitions: [wholeList],
    ...contentFilter(query),
    count: matching.count ?? countInRoots(roots, trees),
  };
}

/** The ways to read a page near the start of several partitions of all reviews, if not early. */
function nearOfAll(
  query: ReviewQuery,
  {
    counts,
    trees,
    roots,
    inFacets,
  }: Pick<Overview, 'counts' | 'roots'> & { trees: readonly Tree[]; inFacets: number },
): NearPage[] {
  // With those whose first review is in no count yet.
  const partitions = partitionsOf(query);
  if (!isByFacet(query) || partitions.length === 1) return [];
  const filter = contentFilter(query);
  if (filter.accept) {
    const near = nearByRoots(partitions, { ...filter, trees, roots }, query);
    return near ? [near] : [];
  }
  const merged = nearInSeveral(partitions, query);
  if (!merged) return [];
  // If most match, reading all and filtering is cheaper than merging many partitions.
  const share = inFacets / Math.max(1, counts.all);
  if (share <= 0.5) return [merged];
  const sifted = nearInOne(wholeList, { accept: acceptOf(query), selectivity: share }, query);
  return sifted ? [sifted, merged] : [merged];
}

/** Returns the partitions of all reviews that hold a list by type and language. */
function partitionsOf({ entity_type, language }: FacetFilter): Partition[] {
  const types = entity_type === undefined ? entityTypes : typesOf(entity_type);
  return types.map((type) => partitionOf(type, language));
}

function partitionOf(type: EntityType, language: string | undefined): Partition {
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
function wholePartition({ entity_id, user_id }: ReviewQuery): Partition {
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
