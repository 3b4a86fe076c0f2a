import { type EntityGroup, type EntityType, typesOf } from './entity-type.ts';
import { facetOf, isPublic, type Kind, kindOf, parseFacet, type Review } from './review.ts';

/** The filters of the review list that choose by what a review is (spec, endpoint 2). */
export interface FacetFilter {
  entity_type?: EntityGroup | EntityType;
  language?: string;
  /** `review` wants a text, `rating` a rating. */
  review_type?: 'review' | 'rating';
}

/** Numbers of public reviews by `<type>|<language>|<kind>`, which is also the name of a count attribute. */
export type FacetCounts = ReadonlyMap<string, number>;

/** All kinds of review. */
export const kinds: readonly Kind[] = ['text', 'rating', 'both'];

/** Reads the count attributes off an entity or user item. */
export function facetCounts(item: Readonly<Record<string, unknown>> = {}): FacetCounts {
  return new Map(
    Object.entries(item).flatMap(([name, value]) =>
      name.includes('|') ? [[name, Number(value)] as const] : [],
    ),
  );
}

/** How many of the counted reviews pass the filter. */
export function countMatching(counts: FacetCounts, filter: FacetFilter): number {
  let sum = 0;
  for (const [name, count] of counts) {
    const { facet, kind } = splitName(name);
    if (matches(filter, facet, kind)) sum += count;
  }
  return sum;
}

/** The facets that have reviews which pass the filter. */
export function facetsMatching(counts: FacetCounts, filter: FacetFilter): string[] {
  const facets = new Set<string>();
  for (const [name, count] of counts) {
    const { facet, kind } = splitName(name);
    if (count > 0 && matches(filter, facet, kind)) facets.add(facet);
  }
  return [...facets];
}

/** Whether reviews of this facet and kind pass the filter. */
export function matches(filter: FacetFilter, facet: string, kind: Kind): boolean {
  const { entity_type, language } = parseFacet(facet);
  return (
    (filter.entity_type === undefined || typesOf(filter.entity_type).includes(entity_type)) &&
    (filter.language === undefined || filter.language === language) &&
    (filter.review_type === undefined ||
      kind === 'both' ||
      kind === (filter.review_type === 'review' ? 'text' : 'rating'))
  );
}

/**
 * What the counts of a review's author and entity gain when `before` becomes `after`; absent stands for none. Drafts and
 * hidden reviews count nowhere. The names are attributes; amounts of zero are left out.
 */
export function countChanges(before: Review | undefined, after: Review | undefined) {
  const facets: Record<string, number> = {};
  const ratings = { rating_sum: 0, rating_count: 0 };
  for (const [review, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (!review || !isPublic(review)) continue;
    const name = `${facetOf(review)}|${kindOf(review)}`;
    facets[name] = (facets[name] ?? 0) + sign;
    if (review.rating !== null) {
      ratings.rating_sum += sign * review.rating;
      ratings.rating_count += sign;
    }
  }
  return { author: nonZero(facets), entity: nonZero({ ...facets, ...ratings }) };
}

function splitName(name: string): { facet: string; kind: Kind } {
  const at = name.lastIndexOf('|');
  return { facet: name.slice(0, at), kind: name.slice(at + 1) as Kind };
}

function nonZero(amounts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0));
}
