import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { IfMatch } from '../../shared/core/http/entity-tags.ts';
import { Caller, ReviewPath } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({ caller: Caller, path: ReviewPath, if_match: IfMatch });

export const docs = {
  tag: 'Reviews',
  summary: 'Delete a review',
  description:
    'Also deletes its revisions, votes and reports. If a moderator has hidden the review, its author still cannot publish another one of the entity.',
  errors: {
    access_denied: 'The review is by somebody else, or a moderator has blocked the account.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path, if_match }) => {
  await deleteReview(path.review_id, caller.user_id, if_match);
  return processed;
});
