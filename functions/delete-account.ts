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

/**
 * Deletes an account. Requires a recent sign-in and the typed name, so that no mistake can do it.
 */
export const handler = page(
  request,
  async ({ caller, body }, { visitor }) => {
    if (!isFresh(caller)) return deletionPage(caller, visitor);
    if (normalized(body.name) !== normalized(visitor.user.display_name)) {
      const faults = {
        name: 'This does not match your name. Type your name as shown. Nothing was deleted.',
      };
      return { ...(await deletionPage(caller, visitor, { values: body, faults })), status: 400 };
    }
    await deleteAccount(caller.user_id);
    const next = await findProviderSignOut();
    if (next) return farewell('deletion', next);
    // Redirects, so that reloading or going back does not send the form again.
    const cookies = [forgetSession(), rememberDeletion()];
    return { location: `${authUrl()}/account/sign-out`, cookies };
  },
  ({ caller }, filled, { visitor }) => deletionPage(caller, visitor, filled),
);

/** Normalizes a typed name. The number of spaces and the encoding of accents are invisible. */
function normalized(name: string): string {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
}
