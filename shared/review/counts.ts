import { type EntityGroup, type EntityType, typesOf } from '../entity/entity-type.ts';
import {
  facetOf,
  isPublic,
  type Kind,
  kindOf,
  parseFacet,
  partsOf,
  type Review,
  starsOf,
} from './review.ts';

/** The filters of the review list that choose by what a review is (spec, endpoint 2). */
export interface FacetFilter {
  entity_type?: EntityGroup | EntityType;
  language?: string;
  /** `review` wants a text, `rating` a rating. */
  review_type?: 'review' | 'rating';
  /** Stars, one of which it must have. */
  rating?: readonly number[];
}

/** Numbers of public reviews by `<type>|<language>|<kind>`, which is also the name of a count attribute. */
export type FacetCounts = ReadonlyMap<string, number>;

/** Those by which the totals of all reviews count, which tell no stars. */
export const kindsOfTotals: readonly Kind[] = ['text', 'rating', 'both'];

/** All kinds of review. */
export const kinds: readonly Kind[] = [
  ...kindsOfTotals,
  ...(['1', '2', '3', '4', '5'] as const).flatMap((stars): Kind[] => [
    `rating${stars}`,
    `both${stars}`,
  ]),
];

/** Reads the count attributes off an entity or user item. */
export function facetCounts(item: Readonly<Record<string, unknown>> = {}): FacetCounts {
  return new Map(
    Object.entries(item).flatMap(([name, value]) =>
      name.includes('|') ? [[name, Number(value)] as const] : [],
    ),
  );
}

/** What passes a filter, of counted reviews. */
export interface Matching {
  count: number;
  /** With those that do not pass. */
  all: number;
  /** The same for each facet that passes; 0 where it has been entered and holds none, or none yet. */
  facets: ReadonlyMap<string, { count: number; all: number }>;
}

/** How many of the counted reviews pass the filter, and of which facets they are. */
export function countMatching(counts: FacetCounts, filter: FacetFilter): Matching {
  const facets = new Map<string, { count: number; all: number }>();
  let all = 0;
  for (const [name, number] of counts) {
    const at = name.lastIndexOf('|');
    const facet = name.slice(0, at);
    const found = facets.get(facet) ?? { count: 0, all: 0 };
    all += number;
    found.all += number;
    if (matches(filter, facet, name.slice(at + 1) as Kind)) found.count += number;
    facets.set(facet, found);
  }
  const byFacet = { entity_type: filter.entity_type, language: filter.language };
  let count = 0;
  for (const [facet, found] of facets) {
    count += found.count;
    if (!matches(byFacet, facet, 'both')) facets.delete(facet);
  }
  return { count, all, facets };
}

/** Whether reviews of this facet and kind pass the filter. */
export function matches(filter: FacetFilter, facet: string, kind: Kind): boolean {
  const { entity_type, language } = parseFacet(facet);
  const parts = partsOf(kind);
  return (
    (filter.entity_type === undefined || typesOf(filter.entity_type).includes(entity_type)) &&
    (filter.language === undefined || filter.language === language) &&
    (filter.review_type === undefined ||
      parts === 'both' ||
      parts === (filter.review_type === 'review' ? 'text' : 'rating')) &&
    (filter.rating === undefined || filter.rating.includes(starsOf(kind)))
  );
}

/**
 * What the counts of a review's author and entity gain when `before` becomes `after`; absent stands
 * for none. Drafts and hidden reviews count nowhere but in karma. The names are attributes; amounts
 * of zero are left out.
 */
export function countChanges(before: Review | undefined, after: Review | undefined) {
  const facets: Record<string, number> = {};
  const totals = { review_count: 0, rating_sum: 0, rating_count: 0 };
  for (const [review, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (!review || !isPublic(review)) continue;
    const name = `${facetOf(review)}|${kindOf(review)}`;
    facets[name] = (facets[name] ?? 0) + sign;
    totals.review_count += sign;
    if (review.rating !== null) {
      totals.rating_sum += sign * review.rating;
      totals.rating_count += sign;
    }
  }
  const karma = (after?.popularity ?? 0) - (before?.popularity ?? 0);
  return { author: nonZero({ ...facets, karma }), entity: nonZero({ ...facets, ...totals }) };
}

function nonZero(amounts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));
}
