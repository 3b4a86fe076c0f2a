import * as v from 'valibot';
import type { Docs } from '../shared/http/docs.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { Changed } from '../shared/http/presented.ts';
import { bodyOf, Caller, IfMatch, optional, PathId } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { Rating, ReviewText } from '../shared/review/review.ts';
import { updateReview } from '../shared/review/review-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
  if_match: IfMatch,
  body: bodyOf({
    text: v.nullish(ReviewText),
    rating: v.nullish(Rating),
    is_draft: optional(v.boolean('must be true or false')),
  }),
});

export const response = Changed;

export const docs = {
  tag: 'Reviews',
  summary: 'Change a review',
  description:
    'Only what is to be changed is sent; `null` clears a field, as long as one of `text` and `rating` remains. A change of nothing succeeds and makes no revision. Earlier revisions of a published review stay public, in its revisions and in the change feed; only a deletion removes them.',
  fields: {
    text: '25 to 5000 characters, some of them visible; kept verbatim',
    rating: '1 to 5',
    is_draft: '`false` publishes a draft; a published review does not become a draft again',
  },
  example: { rating: 4 },
  errors: {
    access_denied: 'The review is by somebody else, or a moderator has blocked the account.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path, if_match, body }) => {
  await updateReview(path.review_id, caller.user_id, body, if_match);
  return { ...processed, review: { id: path.review_id } };
});
