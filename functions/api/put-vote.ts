import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { bodyOf, Caller, ReviewPath } from '../../shared/core/http/request.ts';
import { Answer, processed } from '../../shared/core/http/response.ts';
import { saveVote } from '../../shared/core/vote/vote-repository.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({
  caller: Caller,
  path: ReviewPath,
  body: bodyOf({ vote: v.boolean('must be true or false') }),
});

export const docs = {
  tag: 'Votes and reports',
  summary: 'Vote on a review',
  description:
    'Casts or changes the vote. Karma limits the number of new votes in a UTC day: see `inc=user_type` of your profile. Changing a vote is free.',
  fields: { vote: '`true` is an upvote, `false` a downvote' },
  example: { vote: true },
  headers: ['RateLimit', 'RateLimit-Policy'],
  errors: {
    access_denied: 'A moderator has blocked the account.',
    invalid_request:
      "`vote` is missing or not valid, or the review is the caller's own or has no text.",
    limit_exceeded: 'The daily limit of votes is reached.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, path, body }) => {
  const headers = await saveVote(path.review_id, caller.user_id, body.vote);
  return new Answer(processed, { headers });
});
