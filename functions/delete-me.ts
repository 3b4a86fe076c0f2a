import * as v from 'valibot';
import { deleteAccount } from '../shared/account/delete-account.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { Caller } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';

export const request = v.object({ caller: Caller });

export const handler = endpoint(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return processed;
});
