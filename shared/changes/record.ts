import type { Review } from '../review/review.ts';
import type { Revision } from '../review/revision.ts';
import type { PublicRecord } from './presented.ts';

/** The record of a public review. Its text has one form, so that the records of two mirrors can be compared by their bytes. */
export function reviewRecord(review: Review, revisions: readonly Revision[]): PublicRecord {
  return {
    kind: 'review',
    id: review.id,
    entity_id: review.entity_id,
    entity_type: review.entity_type,
    user_id: review.user_id,
    language: review.language,
    license: review.license,
    created: review.created,
    // A draft is not public.
    published_on: review.published_on as string,
    source: review.source,
    source_url: review.source_url,
    revisions: revisions
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, text, rating, timestamp, votes_positive, votes_negative }) => {
        return { id, text, rating, timestamp, votes_positive, votes_negative };
      }),
  };
}
