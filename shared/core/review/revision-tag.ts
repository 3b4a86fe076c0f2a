import { hash } from 'node:crypto';
import { currentRevision, type Review } from './review.ts';

// Tags by which a write is bound to the revision that its client has seen.

/** Returns the ETag of an answer to a write, for the If-Match of the next write. */
export function ownerTagOf(review: Pick<Review, 'id' | 'edits'>): string {
  return `"${revisionTagOf(review)}"`;
}

/** Returns the tag for If-Match. It leaves out votes and names, which must not prevent an edit. */
export function revisionTagOf(review: Pick<Review, 'id' | 'edits'>): string {
  return hash('sha256', `${review.id} ${currentRevision(review)}`, 'base64url').slice(0, 11);
}
