import * as v from 'valibot';
import { invalidToken } from '../shared/errors.ts';
import { listDecided } from '../shared/moderation/decision-repository.ts';
import { accountPage } from '../shared/pages/account-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { findAccount } from '../shared/user/user-repository.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, async ({ caller }, { visitor }) => {
  const [account, decided] = await Promise.all([
    findAccount(caller.user_id),
    listDecided(caller.user_id),
  ]);
  if (!account) throw invalidToken();
  return accountPage({ ...account, decided }, visitor.csrf);
});
