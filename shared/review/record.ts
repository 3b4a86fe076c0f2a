import type { Review } from './review.ts';
import type { Revision } from './revision.ts';

/** A public review outside of the table: a line of a dump, and what the change feed carries. Times are ISO 8601, in milliseconds. */
export interface ReviewRecord {
  kind: 'review';
  id: string;
  entity_id: string;
  entity_type: Review['entity_type'];
  user_id: string;
  language: string;
  /** The id of the licence. */
  license: string;
  created: string;
  published_on: string;
  source: string | null;
  source_url: string | null;
  /** All of them, the first one first. The last is the review as it is now; together they have all votes. */
  revisions: Omit<Revision, 'review_id'>[];
}

/** The record of a public review. Its text has one form, so that the records of two mirrors can be compared by their bytes. */
export function reviewRecord(review: Review, revisions: readonly Revision[]): ReviewRecord {
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
