import { nearInOne, type PageRequest } from '../../base/list/page-plan.ts';
import { readPage } from '../../base/list/read-page.ts';
import { readLength } from '../../base/list/totals.ts';
import type { SortKey } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import type { User } from './user.ts';
import { findUsers } from './user-repository.ts';

const partition = { scope: 'all', value: 'USER' } as const;
const partitions = [partition];
const trees = [{ list: 'users', partition, contents: new Set(['user'] as const) }];

/** Lists a page of all users, oldest first, and their number. `next` leads to the next page. */
export async function listUsers(
  request: Pick<PageRequest, 'limit' | 'offset' | 'after'>,
): Promise<{ count: number; users: User[]; next?: SortKey }> {
  const position = { ...request, order: 'date', descending: false } as const;
  const early = nearInOne(partition, {}, position);
  const [count, { entries, next }] = await Promise.all([
    readLength('users'),
    readPage({ trees, partitions }, position, early),
  ]);
  const ids = entries.map(idIn);
  const users = await findUsers(ids);
  return { count, users: ids.flatMap((id) => users.get(id) ?? []), next };
}
