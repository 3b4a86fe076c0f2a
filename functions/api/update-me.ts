import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { bodyOf, Caller, optional } from '../../shared/http/request.ts';
import { processed } from '../../shared/http/response.ts';
import { updateProfile } from '../../shared/user/name-repository.ts';
import { DisplayName, Email } from '../../shared/user/user.ts';

export { Processed as response } from '../../shared/http/presented.ts';
export const request = v.object({
  caller: Caller,
  body: bodyOf({ display_name: optional(DisplayName), email: optional(Email) }),
});

export const docs = {
  tag: 'Own account',
  summary: 'Change your profile',
  description: 'Send the fields to change.',
  fields: {
    display_name: 'The public name: 1 to 64 characters, none of them a control character',
    email: 'One address, of at most 254 characters',
  },
  example: { display_name: 'Ann' },
  errors: { access_denied: 'A moderator has blocked the account.' },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, body }) => {
  await updateProfile(caller.user_id, body);
  return processed;
});
