import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { bodyOf, Caller, PathId } from '../shared/http/request.ts';
import { Answer, processed } from '../shared/http/response.ts';
import { saveVote } from '../shared/vote/vote-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
  body: bodyOf({ vote: v.boolean('must be true or false') }),
});

export const handler = endpoint(request, async ({ caller, path, body }) => {
  const headers = await saveVote(path.review_id, caller.user_id, body.vote);
  return new Answer(processed, { headers });
});
