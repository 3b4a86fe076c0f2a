import * as v from 'valibot';
import { Count, described, Fields } from '../../base/described.ts';
import { next } from '../../base/list/presented.ts';
import { AverageRating, Metadata } from '../../core/entity/presented.ts';

const PresentedThing = Fields('An entity with a name, and its public reviews in numbers', {
  ...Metadata.entries,
  review_count: Count('The number of reviews', 3),
  average_rating: AverageRating,
});

export const ThingPage = Fields('A page of entities', {
  entities: described(
    v.array(PresentedThing),
    'The entities: the best match, or the highest or newest, first',
  ),
  next,
});
