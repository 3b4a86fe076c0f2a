import * as v from 'valibot';
import { invalidToken } from '../../shared/base/errors.ts';
import { listDecided } from '../../shared/core/report/decision-log.ts';
import { findAccount, markRead } from '../../shared/core/user/user-repository.ts';
import { accountPage, namePage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, readDated } from '../../shared/pages/frame/lists.ts';
import { readWritten } from '../../shared/pages/review/review-list.ts';

/** Own reviews above the settings. Another page has all of them. */
const shownReviews = 3;

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
    const { proposed_name } = (await findAccount(user_id))?.contact ?? {};
    return namePage(visitor, return_to, proposed_name);
  }
  const isFirst = query.cursor === undefined;
  const [account, decisions, reviews] = await Promise.all([
    findAccount(user_id),
    readDated({ list: 'decided', user_id }, query.cursor, (limit, after) =>
      listDecided(user_id, limit, after),
    ),
    isFirst ? readWritten(user_id, undefined, visitor, shownReviews) : undefined,
  ]);
  if (!account) throw invalidToken();
  // The page shows what it marks as read, and only its first part does.
  if (isFirst) await markRead(account.user);
  return accountPage(account, visitor.csrf, { ...decisions, written: reviews?.written });
});
