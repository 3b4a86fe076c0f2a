import * as v from 'valibot';
import { invalidToken } from '../../shared/errors.ts';
import { bodyOf } from '../../shared/http/request.ts';
import { accountPage } from '../../shared/pages/account/account-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { ownUrl } from '../../shared/pages/frame/own-url.ts';
import { updateProfile } from '../../shared/user/name-repository.ts';
import { DisplayName, Email } from '../../shared/user/user.ts';
import { findAccount } from '../../shared/user/user-repository.ts';

/** An empty field removes the address. */
const EmailField = v.pipe(
  v.string(),
  v.transform((text) => text || null),
  v.nullable(Email),
);

export const request = signedIn({
  body: bodyOf({
    display_name: v.optional(DisplayName),
    email: v.optional(EmailField),
    return_to: v.optional(v.string()),
  }),
});

/** Saves the submitted profile fields. Some pages ask for the name only. */
export const handler = page(
  request,
  async ({ caller, body: { return_to, ...profile } }) => {
    await updateProfile(caller.user_id, profile);
    return { location: ownUrl(return_to), notice: 'profile-saved' };
  },
  async ({ caller }, filled, { visitor }) => {
    const account = await findAccount(caller.user_id);
    if (!account) throw invalidToken();
    return accountPage(account, visitor.csrf, undefined, filled);
  },
);
