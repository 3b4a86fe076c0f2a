import * as v from 'valibot';
import { invalidToken } from '../../shared/base/errors.ts';
import { pick } from '../../shared/base/pick.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import { mailKinds } from '../../shared/core/user/mail-kinds.ts';
import { setMails } from '../../shared/core/user/mails.ts';
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

/** A box that is not ticked is not sent. The form names the boxes that it has. */
const Box = v.optional(v.literal('yes'));

/** The settings that the form showed. What is sent as it was shown stays as it is by now. */
const Shown = v.looseObject({
  display_name: v.optional(v.string()),
  email: v.optional(v.string()),
  shown_name: v.optional(v.string()),
  shown_email: v.optional(v.string()),
});

const Changed = bodyOf({
  display_name: v.optional(DisplayName),
  email: v.optional(EmailField),
  /** Kinds of mails that the form shows, and those that it showed as ticked, with spaces. */
  mails: v.optional(v.string(), ''),
  shown_mails: v.optional(v.string()),
  ...v.entriesFromList(mailKinds, Box),
  return_to: v.optional(v.string()),
});

export const request = signedIn({
  body: v.pipe(
    Shown,
    v.transform(({ display_name, email, ...sent }) => ({
      ...sent,
      ...(display_name !== sent.shown_name && { display_name }),
      ...(email !== sent.shown_email && { email }),
    })),
    Changed,
  ),
});

const kindsIn = (text: string) => {
  const words = text.split(' ');
  return mailKinds.filter((kind) => words.includes(kind));
};

/** Saves the submitted settings. Some pages ask for the name only. */
export const handler = page(
  request,
  async ({ caller, body: { return_to, mails, shown_mails, ...sent } }, { visitor }) => {
    const profile = pick(sent, ['display_name', 'email']);
    await updateProfile(caller.user_id, profile);
    const ticked = shown_mails === undefined ? undefined : kindsIn(shown_mails);
    const chosen = kindsIn(mails).map((kind) => [kind, sent[kind] === 'yes'] as const);
    const changed = chosen.filter(([kind, isChosen]) => ticked?.includes(kind) !== isChosen);
    await setMails(caller.user_id, Object.fromEntries(changed));
    const location = ownUrl(return_to);
    if (!visitor.user.has_proposed_name || profile.display_name === undefined) {
      return { location, notice: 'settings-saved' };
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
