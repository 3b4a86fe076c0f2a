import * as v from 'valibot';
import { Count, described, Fields } from '../described.ts';
import { knownEntity, presentMetadata } from '../entity/metadata.ts';
import { AverageRating, Metadata } from '../entity/presented.ts';
import type { EntityRecord } from '../entity/record.ts';
import { next } from '../list/presented.ts';

/** A thing that a search or a list has found, with its public reviews in numbers. */
export interface FoundThing {
  record: EntityRecord;
  review_count: number;
  average_rating: AverageRating;
}

const PresentedThing = Fields('An entity with a name, and its public reviews in numbers', {
  ...Metadata.entries,
  review_count: Count('The number of reviews', 3),
  average_rating: AverageRating,
});

export const ThingPage = Fields('A page of entities', {
  entities: described(v.array(PresentedThing), 'The entities, the best match or the first first'),
  next,
});

/** Presents a thing as answers have it. */
export function presentThing({ record, review_count, average_rating }: FoundThing) {
  return { ...presentMetadata(knownEntity(record)), review_count, average_rating };
}
