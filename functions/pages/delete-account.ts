import * as v from 'valibot';
import { bodyOf } from '../../shared/core/http/request.ts';
import {
  deleteAccount,
  deletionPage,
  farewell,
  findProviderSignOut,
  rememberDeletion,
} from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { FieldError } from '../../shared/pages/form/way-back.ts';
import { forgetSession, isFresh, readIdToken } from '../../shared/pages/session/session.ts';

/** Deletes an account. A recent sign-in and the typed name rule out a mistake. */
export const handler = page(
  signedIn({ body: bodyOf({ name: v.string() }) }),
  async ({ caller, body }, { event, visitor }) => {
    if (!isFresh(caller)) return deletionPage(caller, visitor);
    if (normalized(body.name) !== normalized(visitor.user.display_name)) {
      throw new FieldError(
        'name',
        'This does not match your name. Type your name as shown. Nothing was deleted.',
      );
    }
    await deleteAccount(caller.user_id);
    const next = await findProviderSignOut(readIdToken(event));
    if (next) return farewell('deletion', next);
    // Redirects, so that reloading or going back does not send the form again.
    return { location: '/account/sign-out', cookies: [...forgetSession(), rememberDeletion()] };
  },
  ({ caller }, filled, { visitor }) => deletionPage(caller, visitor, filled),
);

/** Normalizes a typed name. The number of spaces and the encoding of accents are invisible. */
function normalized(name: string) {
  return name.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
}
