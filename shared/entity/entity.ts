import * as v from 'valibot';
import type { AverageRating } from './presented.ts';

const Ratings = v.object({
  rating_sum: v.optional(v.number(), 0),
  rating_count: v.optional(v.number(), 0),
});

/** Returns the average of the ratings in an entity item. Null without an item or ratings. */
export function averageRating(item: Readonly<Record<string, unknown>> = {}): AverageRating {
  const { rating_sum, rating_count: count } = v.parse(Ratings, item);
  return { rating: count === 0 ? null : Math.round((rating_sum / count) * 10) / 10, count };
}
