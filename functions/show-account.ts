import * as v from 'valibot';
import { invalidToken } from '../shared/errors.ts';
import { readFromCursor } from '../shared/list/cursor.ts';
import { listDecided } from '../shared/moderation/decision-log.ts';
import { accountPage } from '../shared/pages/account-page.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { findAccount } from '../shared/user/user-repository.ts';

const limit = 20;

export const request = v.object({
  caller: Session,
  query: v.object({ cursor: v.optional(v.string()) }),
});

export const handler = page(request, async ({ caller, query }, { visitor }) => {
  const { user_id } = caller;
  const list = { list: 'decided', user_id, sort: 'date' };
  const [account, { page, cursor }] = await Promise.all([
    findAccount(user_id),
    readFromCursor(list, { offset: 0, limit, cursor: query.cursor }, ({ after }) =>
      listDecided(user_id, limit, after),
    ),
  ]);
  if (!account) throw invalidToken();
  return accountPage({ ...account, decided: page.decided, cursor }, visitor.csrf);
});
