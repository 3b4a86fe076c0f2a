import * as v from 'valibot';

/** What all public reviews of an entity add up to, as it is stored beside its counts by facet; none have added anything at first. */
export const Entity = v.object({
  review_count: v.optional(v.number(), 0),
  rating_sum: v.optional(v.number(), 0),
  rating_count: v.optional(v.number(), 0),
});

/** The average as the API shows it: `rating` has one decimal, and is null when `count`, the number of ratings, is 0. */
export interface AverageRating {
  rating: number | null;
  count: number;
}

/** The average of the ratings that an entity item holds; of an entity without an item, nothing. */
export function averageRating(item: Readonly<Record<string, unknown>> = {}): AverageRating {
  const { rating_sum, rating_count: count } = v.parse(Entity, item);
  return { rating: count === 0 ? null : Math.round((rating_sum / count) * 10) / 10, count };
}
