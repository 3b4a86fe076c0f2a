import * as v from 'valibot';
import type { AverageRating } from './presented.ts';

/** Totals of all public reviews of an entity, stored beside its counts by facet. */
export const Entity = v.object({
  review_count: v.optional(v.number(), 0),
  rating_sum: v.optional(v.number(), 0),
  rating_count: v.optional(v.number(), 0),
});

/** Average of the ratings in an entity item. Null without an item or ratings. */
export function averageRating(item: Readonly<Record<string, unknown>> = {}): AverageRating {
  const { rating_sum, rating_count: count } = v.parse(Entity, item);
  return { rating: count === 0 ? null : Math.round((rating_sum / count) * 10) / 10, count };
}
