import * as v from 'valibot';
import { deleteAccount } from '../shared/account/delete-account.ts';
import { bodyOf } from '../shared/http/request.ts';
import { farewell } from '../shared/pages/farewell.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { findProviderSignOut } from '../shared/user/provider-sign-out.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ confirm: v.literal('yes', 'must be ticked') }),
});

export const handler = page(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return farewell('deletion', await findProviderSignOut());
});
