import { knownEntity, presentMetadata } from '../entity/metadata.ts';
import type { AverageRating } from '../entity/presented.ts';
import type { EntityRecord } from '../entity/record.ts';

/** A thing that a search or a list has found, with its public reviews in numbers. */
export interface FoundThing {
  record: EntityRecord;
  review_count: number;
  average_rating: AverageRating;
}

/** Presents a thing as answers have it. */
export function presentThing({ record, review_count, average_rating }: FoundThing) {
  return { ...presentMetadata(knownEntity(record)), review_count, average_rating };
}
