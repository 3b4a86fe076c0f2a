import * as v from 'valibot';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { findBallot } from '../../shared/core/vote/vote-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { VoteChoice } from '../../shared/pages/review/vote-form.ts';
import { votePage } from '../../shared/pages/review/vote-page.ts';

export const request = signedIn({
  path: ReviewPath,
  query: v.object({ vote: v.fallback(v.optional(VoteChoice), undefined) }),
});

/** Asks a person who has signed in to confirm a vote. */
export const handler = page(request, async ({ path: { review_id }, query }, { visitor }) => {
  const [review, ballot] = await Promise.all([
    getPublicReview(review_id),
    findBallot(review_id, visitor.user),
  ]);
  return votePage(review, visitor, ballot, query.vote);
});
