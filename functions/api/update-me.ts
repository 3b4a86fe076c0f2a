import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { bodyOf, Caller, optional } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { updateProfile } from '../../shared/core/user/name-repository.ts';
import { DisplayName, Email } from '../../shared/core/user/user.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({
  caller: Caller,
  body: bodyOf({ display_name: optional(DisplayName), email: optional(Email) }),
});

export const docs = {
  tag: 'Own account',
  summary: 'Change your profile',
  description: 'Send the fields to change.',
  fields: {
    display_name:
      'The public name: 1 to 64 characters, none of them a control character, without an address of a website or of mail',
    email:
      'One address of at most 254 characters, whose domain has a dot. A domain in another script is answered as `xn--`',
  },
  example: { display_name: 'Ann' },
  errors: {
    access_denied: 'A moderator has blocked the account.',
    limit_exceeded: 'The daily limit of changes of the public name is reached.',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller, body }) => {
  await updateProfile(caller.user_id, body);
  return processed;
});
