import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller, ReviewPath } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { deleteVote } from '../../shared/core/vote/vote-repository.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({ caller: Caller, path: ReviewPath });

export const docs = {
  tag: 'Votes and reports',
  summary: 'Delete your vote',
  description:
    'Withdraws the vote. The day still counts it, so a later vote on the same review counts again.',
  errors: {
    access_denied: 'A moderator has blocked the account.',
    not_found: 'The review does not exist or is not public, or the caller has not voted on it.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path }) => {
  await deleteVote(path.review_id, caller.user_id);
  return processed;
});
