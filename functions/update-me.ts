import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { bodyOf, Caller, optional } from '../shared/http/request.ts';
import { processed } from '../shared/http/response.ts';
import { DisplayName, Email } from '../shared/user/user.ts';
import { updateProfile } from '../shared/user/user-repository.ts';

export const request = v.object({
  caller: Caller,
  body: bodyOf({ display_name: optional(DisplayName), email: optional(Email) }),
});

export const handler = endpoint(request, async ({ caller, body }) => {
  await updateProfile(caller.user_id, body);
  return processed;
});
