import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { IfMatch } from '../../shared/core/http/entity-tags.ts';
import { bodyOf, Caller, optional, ReviewPath } from '../../shared/core/http/request.ts';
import { Answer, processed } from '../../shared/core/http/response.ts';
import { updateReview } from '../../shared/core/review/review-repository.ts';
import { ownerTagOf } from '../../shared/core/review/revision-tag.ts';
import { SentWritten, sentTexts } from '../../shared/core/review/written.ts';

export { Changed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({
  caller: Caller,
  path: ReviewPath,
  if_match: IfMatch,
  body: bodyOf({
    ...v.partial(SentWritten).entries,
    is_draft: optional(v.boolean('must be true or false')),
  }),
});

export const docs = {
  tag: 'Reviews',
  summary: 'Change a review',
  description:
    'Send the fields to change. `null` clears a field, but `text` or `rating` must remain. Edits have a daily limit (UTC), and publishing a draft is one. A change of nothing succeeds, makes no revision and does not count. Earlier revisions of a published review stay public until the review is deleted. Where reviews of new authors wait for a moderator, so does their new text of a public review. The answer is the same, and `waiting_text` in `GET /user/me/reviews` has the text. A new rating never waits.',
  fields: {
    ...sentTexts,
    is_draft: '`false` publishes a draft. A published review cannot become a draft again',
  },
  headers: ['ETag'],
  example: { rating: 4 },
  errors: {
    access_denied: 'The review is by somebody else, or a moderator has blocked the account.',
    limit_exceeded: 'The daily limit of edits is reached.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path, if_match, body }) => {
  const review = await updateReview(path.review_id, caller.user_id, body, if_match);
  return new Answer(
    { ...processed, review: { id: review.id } },
    { headers: { ETag: ownerTagOf(review) } },
  );
});
