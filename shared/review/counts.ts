import { type EntityGroup, type EntityType, typesOf } from '../entity/entity-type.ts';
import type { AverageRating } from '../entity/presented.ts';
import {
  contentOf,
  facetOf,
  isPublic,
  parseFacet,
  type Review,
  type ReviewContent,
  starsOf,
  withoutStars,
} from './review.ts';

// Counts of reviews by facet and content: how they change, and which of them a filter matches.

/** Filters of the review list by properties of a review (spec, endpoint 2). */
export interface FacetFilter {
  entity_type?: EntityGroup | EntityType;
  language?: string;
  /** `review` requires a text, `rating` a rating. */
  review_type?: 'review' | 'rating';
  /** Accepted numbers of stars. */
  rating?: readonly number[];
}

/** Numbers of public reviews by `<type>|<language>|<content>`, the name of the attribute. */
export type FacetCounts = ReadonlyMap<string, number>;

/** Contents in the totals of all reviews, which have no stars. */
export const contentsOfTotals: readonly ReviewContent[] = ['text', 'rating', 'both'];

/** Reads the counts by facet and content from the item of an entity or user. */
export function facetCounts(item: Readonly<Record<string, unknown>> = {}): FacetCounts {
  const counts = Object.entries(item).filter(([name]) => name.includes('|'));
  return new Map(counts.map(([name, count]) => [name, Number(count)]));
}

export interface Matching {
  count: number;
  all: number;
  /** The same by matching facet: 0 for a registered facet without reviews. */
  facets: ReadonlyMap<string, { count: number; all: number }>;
}

/** Counts the reviews that match, in all and by facet. */
export function countMatching(counts: FacetCounts, filter: FacetFilter): Matching {
  const facets = new Map<string, { count: number; all: number }>();
  let all = 0;
  for (const [name, number] of counts) {
    const bar = name.lastIndexOf('|');
    const facet = name.slice(0, bar);
    const content = name.slice(bar + 1) as ReviewContent;
    const numbers = facets.get(facet) ?? { count: 0, all: 0 };
    all += number;
    numbers.all += number;
    if (matches(filter, facet, content)) numbers.count += number;
    facets.set(facet, numbers);
  }
  const byFacet = { entity_type: filter.entity_type, language: filter.language };
  let count = 0;
  for (const [facet, numbers] of facets) {
    count += numbers.count;
    if (!matches(byFacet, facet, 'both')) facets.delete(facet);
  }
  return { count, all, facets };
}

/** Returns the average of the ratings in an entity item. Null without an item or ratings. */
export function averageRating(item: Readonly<Record<string, unknown>> = {}): AverageRating {
  const sum = Number(item.rating_sum ?? 0);
  const count = Number(item.rating_count ?? 0);
  return { rating: count === 0 ? null : Math.round((sum / count) * 10) / 10, count };
}

/** Returns true if reviews of this facet and content match the filter. */
export function matches(filter: FacetFilter, facet: string, content: ReviewContent): boolean {
  const { entity_type, language } = parseFacet(facet);
  const plain = withoutStars(content);
  const required = filter.review_type === 'review' ? 'text' : 'rating';
  return (
    (filter.entity_type === undefined || typesOf(filter.entity_type).includes(entity_type)) &&
    (filter.language === undefined || filter.language === language) &&
    (filter.review_type === undefined || plain === 'both' || plain === required) &&
    (filter.rating === undefined || filter.rating.includes(starsOf(content)))
  );
}

/**
 * Returns the changes to the counts of author and entity when `before` becomes `after`, by
 * attribute, without zeros. Drafts and hidden reviews count only in karma.
 */
export function countChanges(before: Review | undefined, after: Review | undefined) {
  const facets: Record<string, number> = {};
  const totals = { review_count: 0, rating_sum: 0, rating_count: 0 };
  const add = (review: Review | undefined, sign: 1 | -1) => {
    if (!review || !isPublic(review)) return;
    const name = `${facetOf(review)}|${contentOf(review)}`;
    facets[name] = (facets[name] ?? 0) + sign;
    totals.review_count += sign;
    if (review.rating !== null) {
      totals.rating_sum += sign * review.rating;
      totals.rating_count += sign;
    }
  };
  add(before, -1);
  add(after, 1);
  const karma = (after?.popularity ?? 0) - (before?.popularity ?? 0);
  return { author: nonZero({ ...facets, karma }), entity: nonZero({ ...facets, ...totals }) };
}

function nonZero(amounts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));
}
