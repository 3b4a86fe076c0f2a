import * as v from 'valibot';
import { deleteAccount } from '../shared/account/delete-account.ts';
import { authUrl } from '../shared/auth-url.ts';
import { bodyOf } from '../shared/http/request.ts';
import { deletionPage } from '../shared/pages/deletion-page.ts';
import { farewell } from '../shared/pages/farewell.ts';
import { page } from '../shared/pages/page.ts';
import { forgetSession, isFresh, rememberDeletion, Session } from '../shared/pages/session.ts';
import { findProviderSignOut } from '../shared/user/provider-sign-out.ts';

export const request = v.object({ caller: Session, body: bodyOf({ name: v.string() }) });

/** Deletes the account of a person who has just signed in and types its name. Nothing less brings it about, and no slip does. */
export const handler = page(
  request,
  async ({ caller, body }, { visitor }) => {
    if (!isFresh(caller)) return deletionPage(caller, visitor);
    if (typed(body.name) !== typed(visitor.user.display_name)) {
      const faults = { name: 'This is not your name here. Nothing is deleted.' };
      return { ...(await deletionPage(caller, visitor, { values: body, faults })), status: 400 };
    }
    await deleteAccount(caller.user_id);
    const next = await findProviderSignOut();
    if (next) return farewell('deletion', next);
    // Who reloads that page, or comes back to it, sends no form again.
    const cookies = [forgetSession(), rememberDeletion()];
    return { location: `${authUrl()}/account/sign-out`, cookies };
  },
  ({ caller }, filled, { visitor }) => deletionPage(caller, visitor, filled),
);

/** A name as it is typed: one sees neither how many spaces there are nor how an accent is made. */
function typed(name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
}
