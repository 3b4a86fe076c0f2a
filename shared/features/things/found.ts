import { pick } from '../../base/pick.ts';
import { knownEntity, presentMetadata } from '../../core/entity/metadata.ts';
import type { AverageRating } from '../../core/entity/presented.ts';
import type { EntityRecord } from '../../core/entity/record.ts';

/** A thing that a search or a list has found, with its public reviews in numbers. */
export interface FoundThing {
  record: EntityRecord;
  review_count: number;
  average_rating: AverageRating;
  /** The words of another thing that leads to it, if it was found by them. */
  other_name?: string | undefined;
}

/** Presents a thing as answers have it. */
export function presentThing({ record, review_count, average_rating }: FoundThing) {
  return {
    ...presentMetadata(knownEntity(record)),
    review_count,
    // A list has it from a stored map, whose fields come in any order.
    average_rating: pick(average_rating, ['rating', 'count']),
  };
}
