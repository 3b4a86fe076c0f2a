import type { Review } from '../../shared/core/review/review.ts';

/** The other types of reviews are of books, or of a service alone. */
const musicTypes = ['release_group', 'event', 'place', 'work', 'artist', 'label', 'recording'];

/** Selects and sorts reviews as each parameter is defined, without any code of the service. */
export function listed(reviews: readonly Review[], query: Record<string, string>): Review[] {
  const { entity_id, entity_type, user_id, language, review_type, rating, ...order } = query;
  const isOfType = (type: string) =>
    entity_type === undefined ||
    (entity_type === 'bookdb' && type.startsWith('bk_')) ||
    (entity_type === 'musicdb' && musicTypes.includes(type)) ||
    entity_type === type;
  const sign = order.sort_order === 'asc' ? 1 : -1;
  return reviews
    .filter(
      (review) =>
        isOfType(review.entity_type) &&
        (entity_id ?? review.entity_id) === review.entity_id &&
        (user_id ?? review.user_id) === review.user_id &&
        (language ?? review.language) === review.language &&
        (review_type !== 'review' || review.text !== null) &&
        (review_type !== 'rating' || review.rating !== null) &&
        (rating === undefined || rating.split(',').includes(`${review.rating}`)),
    )
    .sort((a, b) => {
      const byPopularity = order.sort === 'popularity' ? a.popularity - b.popularity : 0;
      const isBefore = `${a.published_on}#${a.id}` < `${b.published_on}#${b.id}`;
      return sign * (byPopularity || (isBefore ? -1 : 1));
    });
}
