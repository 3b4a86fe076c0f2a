import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller, pageParameters } from '../../shared/core/http/request.ts';
import { listOwnReviews } from '../../shared/core/review/own-reviews.ts';
import { OwnReviewPage } from '../../shared/core/review/presented.ts';
import { isDraft, presentReview } from '../../shared/core/review/review.ts';
import { presentModeration } from '../../shared/core/review/verdict.ts';
import { findWaitingTexts } from '../../shared/core/review/waiting.ts';

export const request = v.object({ caller: Caller, query: v.object(pageParameters) });

export const response = OwnReviewPage;

export const docs = {
  tag: 'Own account',
  summary: 'List your reviews',
  description:
    'Newest first, with drafts, hidden reviews, and decisions of moderators. A page of long imported texts may be shorter: skip its `limit` for the next one.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, query }): Promise<OwnReviewPage> => {
  const { offset } = query;
  const { count, limit, reviews } = await listOwnReviews(caller.user_id, query.limit, offset);
  const waiting = await findWaitingTexts(reviews.map(({ review }) => review));
  return {
    count,
    limit,
    offset,
    reviews: reviews.map(({ review, author }) => ({
      ...presentReview(review, author),
      is_draft: isDraft(review),
      is_hidden: review.is_hidden,
      moderation: presentModeration(review),
      waiting_text: waiting.get(review.id),
    })),
  };
});
