import * as v from 'valibot';
import type { AverageRating } from './presented.ts';

/** What all public reviews of an entity add up to, as it is stored beside its counts by facet; none have added anything at first. */
export const Entity = v.object({
  review_count: v.optional(v.number(), 0),
  rating_sum: v.optional(v.number(), 0),
  rating_count: v.optional(v.number(), 0),
});

/** The average of the ratings that an entity item holds; of an entity without an item, nothing. */
export function averageRating(item: Readonly<Record<string, unknown>> = {}): AverageRating {
  const { rating_sum, rating_count: count } = v.parse(Entity, item);
  return { rating: count === 0 ? null : Math.round((rating_sum / count) * 10) / 10, count };
}
