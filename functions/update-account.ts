import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { bodyOf } from '../shared/http/request.ts';
import { Session } from '../shared/http/session.ts';
import { DisplayName, Email } from '../shared/user/user.ts';
import { updateProfile } from '../shared/user/user-repository.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ display_name: DisplayName, email: v.union([v.literal(''), Email]) }),
});

export const handler = page(request, async ({ caller, body }) => {
  await updateProfile(caller.user_id, { ...body, email: body.email || null });
  return { location: `${authUrl()}/account` };
});
