import * as v from 'valibot';
import { bodyOf } from '../shared/http/request.ts';
import { ownUrl } from '../shared/pages/own-url.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { DisplayName, Email } from '../shared/user/user.ts';
import { updateProfile } from '../shared/user/user-repository.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({
    display_name: v.optional(DisplayName),
    email: v.optional(v.union([v.literal(''), Email])),
    return_to: v.optional(v.string()),
  }),
});

/** Saves what is sent of the profile: on other pages only the name is asked for. */
export const handler = page(request, async ({ caller, body }) => {
  const { display_name, email, return_to } = body;
  await updateProfile(caller.user_id, { display_name, email: email === '' ? null : email });
  return { location: ownUrl(return_to) };
});
