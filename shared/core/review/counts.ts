import { type EntityGroup, type EntityType, typesOf } from '../entity/entity-type.ts';
import {
  contentOf,
  isPublic,
  parseFacet,
  type Review,
  type ReviewContent,
  starsOf,
  withoutStars,
} from './review.ts';

// Filters by properties of reviews, and the numbers of reviews with each property.

/** Filters of the review list by properties of a review (spec, endpoint 2). */
export interface FacetFilter {
  entity_type?: EntityGroup | EntityType;
  language?: string;
  /** `review` requires a text, `rating` a rating. */
  review_type?: 'review' | 'rating';
  /** Accepted numbers of stars. */
  rating?: readonly number[];
}

/**
 * Numbers of public reviews by one property at a time, without zeros. Numbers by several properties
 * would be as many as types times languages times contents: too many for an item that a list reads.
 */
export interface ReviewCounts {
  all: number;
  types: ReadonlyMap<EntityType, number>;
  languages: ReadonlyMap<string, number>;
  contents: ReadonlyMap<ReviewContent, number>;
}

/** Numbers of reviews that match a filter by one property each, and by all if that is known. */
export interface Matching {
  all: number;
  types: number;
  languages: number;
  contents: number;
  /** Undefined if several properties exclude reviews: only the reviews then tell. */
  count: number | undefined;
  /** Estimated share of the reviews that match, from 0 to 1. */
  share: number;
}

/** Counts the reviews that match a filter. */
export function countMatching(counts: ReviewCounts, filter: FacetFilter): Matching {
  const { all } = counts;
  const types = sumOf(counts.types, (type) => matchesType(filter, type));
  // The counts may know no language but that of the filter.
  const languages =
    filter.language === undefined ? all : (counts.languages.get(filter.language) ?? 0);
  const contents = sumOf(counts.contents, (content) => matchesContent(filter, content));
  const parts = [types, languages, contents];
  const least = Math.min(...parts);
  const isKnown = least === 0 || parts.filter((part) => part < all).length <= 1;
  const share = parts.reduce((product, part) => (product * part) / Math.max(1, all), 1);
  return { all, types, languages, contents, count: isKnown ? least : undefined, share };
}

/** Returns true if reviews of this facet and content match the filter. */
export function matches(filter: FacetFilter, facet: string, content: ReviewContent): boolean {
  const { entity_type, language } = parseFacet(facet);
  return (
    matchesType(filter, entity_type) &&
    matchesLanguage(filter, language) &&
    matchesContent(filter, content)
  );
}

/** Returns true if reviews of this type match the filter by type. */
export function matchesType({ entity_type }: FacetFilter, type: EntityType): boolean {
  return entity_type === undefined || typesOf(entity_type).includes(type);
}

function matchesLanguage(filter: FacetFilter, language: string): boolean {
  return filter.language === undefined || filter.language === language;
}

/** Returns true if reviews of this content match the filters by text, rating and stars. */
export function matchesContent(
  { review_type, rating }: FacetFilter,
  content: ReviewContent,
): boolean {
  const plain = withoutStars(content);
  const required = review_type === 'review' ? 'text' : 'rating';
  return (
    (review_type === undefined || plain === 'both' || plain === required) &&
    (rating === undefined || rating.includes(starsOf(content)))
  );
}

/** Adds up the numbers of the names that a filter accepts. */
function sumOf<T>(numbers: ReadonlyMap<T, number>, accepts: (name: T) => boolean): number {
  let sum = 0;
  for (const [name, number] of numbers) {
    if (accepts(name)) sum += number;
  }
  return sum;
}

/** A property of a public review, and the reviews of an author or entity that have it. */
export type CountedProperty = Pick<Review, 'entity_type' | 'language'> & { content: ReviewContent };

/** Returns the properties by which a review is counted. Drafts and hidden reviews have none. */
export function countedIn(review: Review): CountedProperty | undefined {
  if (!isPublic(review)) return undefined;
  const { entity_type, language } = review;
  return { entity_type, language, content: contentOf(review) };
}
