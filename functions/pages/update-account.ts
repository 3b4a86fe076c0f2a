import * as v from 'valibot';
import { invalidToken } from '../../shared/base/errors.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import { updateProfile } from '../../shared/core/user/name-repository.ts';
import { DisplayName, Email } from '../../shared/core/user/user.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { accountPage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { ownUrl } from '../../shared/pages/frame/own-url.ts';

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
  async ({ caller, body: { return_to, ...profile } }, { visitor }) => {
    await updateProfile(caller.user_id, profile);
    const location = ownUrl(return_to);
    if (!visitor.user.has_proposed_name || profile.display_name === undefined) {
      return { location, notice: 'profile-saved' };
    }
    // Somebody new who wanted no page of ours begins at the front page.
    const isHome = return_to !== undefined && location === ownUrl();
    return { location: isHome ? '/' : location, notice: 'welcome' };
  },
  async ({ caller }, filled, { visitor }) => {
    const account = await findAccount(caller.user_id);
    if (!account) throw invalidToken();
    return accountPage(account, visitor.csrf, undefined, filled);
  },
);
