import * as v from 'valibot';
import { invalidRequest } from '../../shared/base/errors.ts';
import { linkToFeed } from '../../shared/base/links.ts';
import { oneOf, oneOfNamed, Uuid } from '../../shared/base/values.ts';
import { EntityTypeIn, entityGroups, entityTypes } from '../../shared/core/entity/entity-type.ts';
import { findMetadata, presentMetadata } from '../../shared/core/entity/metadata.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { pagedAnswer, pagedParameters } from '../../shared/core/http/paged.ts';
import { Flag } from '../../shared/core/http/request.ts';
import { Language, presentReview, Stars } from '../../shared/core/review/review.ts';
import { listReviews } from '../../shared/core/review/review-list.ts';

export { ReviewPage as response } from '../../shared/core/review/presented.ts';

export const request = v.object({
  query: v.object({
    entity_id: v.optional(Uuid),
    entity_type: v.optional(EntityTypeIn([...entityGroups.keys(), ...entityTypes])),
    user_id: v.optional(Uuid),
    // CritiqueBrainz has a second name for each.
    sort: v.optional(
      oneOfNamed(['popularity', 'published_on'], { rating: 'popularity', created: 'published_on' }),
      'published_on',
    ),
    sort_order: v.optional(oneOf(['asc', 'desc']), 'desc'),
    ...pagedParameters,
    language: v.optional(Language),
    review_type: v.optional(oneOf(['review', 'rating'])),
    rating: v.optional(Stars),
    include_metadata: Flag(),
  }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'List reviews',
  description:
    'Public reviews, by any combination of filters. With `entity_id` the answer also has `average_rating`. Drafts and hidden reviews are in no list, count or average.',
  fields: {
    entity_id: 'Only reviews of this entity',
    entity_type:
      'Only reviews of this type. `musicdb` and `bookdb` mean all types of that database',
    user_id: 'Only reviews by this author',
    sort: 'Sort by time of publication, or by votes',
    sort_order: '`desc`: newest or most popular first. `asc`: last',
    language: 'Only reviews in this language',
    review_type: 'Only reviews that have a text (`review`) or a rating (`rating`)',
    rating: 'Only reviews with these stars, such as `4,5`; together with `entity_id` or `user_id`',
    include_metadata: '`true` adds the name of each entity, what tells it apart, and its page',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, ({ query }) => {
  const { sort, sort_order, include_metadata, ...filter } = query;
  if (filter.rating && (filter.entity_id ?? filter.user_id) === undefined) {
    throw invalidRequest('rating must be sent together with entity_id or user_id');
  }
  const sorting = {
    order: sort === 'popularity' ? 'popularity' : 'date',
    descending: sort_order === 'desc',
  } as const;
  const isNamed = include_metadata === 'true';
  return pagedAnswer(
    query,
    (position) => listReviews({ ...filter, ...sorting, ...position, isNamed }),
    async ({ count, reviews, average_rating }) => {
      const metadata = isNamed && (await findMetadata(reviews.map(({ review }) => review)));
      const presented = reviews.map(({ review, author }, i) => ({
        ...presentReview(review, author),
        ...(metadata && { metadata: presentMetadata(metadata[i] ?? null) }),
      }));
      return { count, items: { reviews: presented }, beside: { average_rating } };
    },
    ...feedsOf(filter),
  );
});

/** Returns the link to the feed of the filtered entity or user. Returns none for both together. */
function feedsOf({ entity_id, user_id }: { entity_id?: string; user_id?: string }): string[] {
  if (entity_id !== undefined) return user_id === undefined ? [linkToFeed({ entity_id })] : [];
  return user_id === undefined ? [] : [linkToFeed({ user_id })];
}
