import { invalidToken } from '../../shared/base/errors.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { movePage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const handler = page(signedIn({}), async ({ caller }, { visitor }) => {
  const account = await findAccount(caller.user_id);
  if (!account) throw invalidToken();
  return movePage(caller, visitor, account.contact);
});
