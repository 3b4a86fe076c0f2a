import * as v from 'valibot';
import { Count, described, Fields, Id } from '../../base/described.ts';
import {
  AverageRating,
  EntityState,
  LeadsTo,
  LedFrom,
  PresentedEntityType,
} from '../entity/presented.ts';
import { ListedReview, PresentedReview } from '../review/presented.ts';

export const EntitySummary = Fields('The public reviews of an entity in numbers', {
  id: Id('The entity', '8e8a594f-2175-38c7-a871-abb68ec363e7'),
  entity_type: described(
    v.nullable(PresentedEntityType),
    'The type that most reviews name; `null` without reviews',
    'release_group',
  ),
  review_count: Count('The number of reviews', 3),
  average_rating: AverageRating,
  ratings: described(
    v.record(v.picklist(['1', '2', '3', '4', '5']), Count('Ratings with these stars', 1)),
    'The number of ratings by stars',
    { 1: 0, 2: 0, 3: 0, 4: 1, 5: 1 },
  ),
  languages: described(
    v.record(v.string(), Count('Reviews in this language', 2)),
    'The number of reviews by language, most frequent first',
    { en: 2, de: 1 },
  ),
});
export type EntitySummary = v.InferOutput<typeof EntitySummary>;

export const EntityOverview = Fields('An entity with its reviews in numbers', {
  entity: described(
    v.object({
      ...EntitySummary.entries,
      state: EntityState,
      leads_to: LeadsTo,
      led_from: LedFrom,
    }),
    'Its public reviews in numbers, and whether moderators have removed or joined it',
  ),
  latest: described(v.array(PresentedReview), 'The three latest reviews'),
  popular: described(v.array(PresentedReview), 'The three most popular reviews'),
  metadata: ListedReview.entries.metadata,
});

export const EntitiesById = Fields('Several entities', {
  entities: described(v.record(v.string(), EntitySummary), 'By their ids in canonical form'),
  entity_id_mapping: described(
    v.record(v.string(), v.string()),
    'The canonical form of each id that was sent',
    { '8E8A594F217538C7A871ABB68EC363E7': '8e8a594f-2175-38c7-a871-abb68ec363e7' },
  ),
});
