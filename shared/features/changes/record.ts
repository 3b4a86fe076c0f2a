import { pick } from '../../base/pick.ts';
import type { Review } from '../../core/review/review.ts';
import type { Revision } from '../../core/review/revision.ts';
import { writtenNames } from '../../core/review/written.ts';
import type { PublicRecord } from './presented.ts';

// A public review in dumps and in the change feed.

/** Fields of a revision in the record. */
const fields = ['id', ...writtenNames, 'timestamp', 'votes_positive', 'votes_negative'] as const;

/**
 * Makes the record of a public review, always with the same bytes, so that mirrors can compare. Of
 * the newest revisions only, it says where the earlier ones are.
 */
export function reviewRecord(review: Review, revisions: readonly Revision[]): PublicRecord {
  const oldest = Math.min(...revisions.map(({ id }) => id));
  const record: PublicRecord = {
    kind: 'review',
    ...pick(review, ['id', 'entity_id', 'entity_type', 'user_id', 'language', 'license']),
    created: review.created,
    // Drafts are not public.
    published_on: review.published_on as string,
    ...pick(review, ['source', 'source_url']),
    revisions: revisions.toSorted((a, b) => a.id - b.id).map((each) => pick(each, fields)),
  };
  if (oldest > 1) record.earlier_revisions = `/review/${review.id}/revisions?before=${oldest}`;
  return record;
}
