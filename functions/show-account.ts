import { invalidToken } from '../shared/errors.ts';
import { listDecided } from '../shared/moderation/decision-log.ts';
import { accountPage } from '../shared/pages/account-page.ts';
import { CursorQuery, readDated } from '../shared/pages/lists.ts';
import { page, signedIn } from '../shared/pages/page.ts';
import { findAccount } from '../shared/user/user-repository.ts';

export const request = signedIn({ query: CursorQuery });

export const handler = page(request, async ({ caller: { user_id }, query }, { visitor }) => {
  const [account, decisions] = await Promise.all([
    findAccount(user_id),
    readDated({ list: 'decided', user_id }, query.cursor, (limit, after) =>
      listDecided(user_id, limit, after),
    ),
  ]);
  if (!account) throw invalidToken();
  return accountPage(account, visitor.csrf, decisions);
});
