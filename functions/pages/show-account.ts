import * as v from 'valibot';
import { invalidToken } from '../../shared/errors.ts';
import { listDecided } from '../../shared/moderation/decision-log.ts';
import { accountPage } from '../../shared/pages/account/account-page.ts';
import { namePage } from '../../shared/pages/account/name-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, readDated } from '../../shared/pages/frame/lists.ts';
import { findAccount, markRead } from '../../shared/user/user-repository.ts';

export const request = signedIn({
  query: v.object({
    ...CursorQuery.entries,
    return_to: v.optional(v.string()),
    /** Asks for the name again. */
    change: v.optional(v.literal('name')),
  }),
});

export const handler = page(request, async ({ caller: { user_id }, query }, { visitor }) => {
  const { return_to, change } = query;
  if (return_to !== undefined && (change || visitor.user.has_proposed_name)) {
    return namePage(visitor, return_to);
  }
  const [account, decisions] = await Promise.all([
    findAccount(user_id),
    readDated({ list: 'decided', user_id }, query.cursor, (limit, after) =>
      listDecided(user_id, limit, after),
    ),
  ]);
  if (!account) throw invalidToken();
  // The page shows what it marks as read, and only its first part does.
  if (query.cursor === undefined) await markRead(account.user);
  return accountPage(account, visitor.csrf, decisions);
});
