import { invalidToken } from '../../shared/base/errors.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { refuseBlocked } from '../../shared/core/user/writer.ts';
import { movePage, moveSignInPage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { isFresh } from '../../shared/pages/session/session.ts';

/** Leads a person to the sign-in with the address that the account moves to. */
export const handler = page(signedIn({}), async ({ caller }, { visitor }) => {
  refuseBlocked(visitor.user);
  const account = await findAccount(caller.user_id);
  if (!account) throw invalidToken();
  if (!isFresh(caller)) return movePage(caller, visitor, account.contact);
  return moveSignInPage(caller.user_id);
});
