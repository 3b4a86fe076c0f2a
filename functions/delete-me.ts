import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { deleteAccount } from '../shared/user/delete-account.ts';

export const request = v.object({ caller: Caller });

export const handler = endpoint(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return processed;
});
