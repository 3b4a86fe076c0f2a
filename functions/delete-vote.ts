import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller, PathId } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { deleteVote } from '../shared/vote/vote-repository.ts';

export const request = v.object({
  caller: Caller,
  path: v.object({ review_id: PathId('Review') }),
});

export const handler = endpoint(request, async ({ caller, path }) => {
  await deleteVote(path.review_id, caller.user_id);
  return processed;
});
