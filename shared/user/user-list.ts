import { readUsersTotal } from '../feed/totals.ts';
import { type List, type Page, type PageRequest, readPage } from '../list/read-page.ts';
import type { SortValue } from '../table/read-entries.ts';
import type { User } from './user.ts';
import { findUsers } from './user-repository.ts';

const partition = { scope: 'all', value: 'USER' } as const;
const allUsers: List = {
  partitions: [partition],
  calendars: [{ list: 'users', partition, kinds: 'u' }],
};

/** A page of all users in the order in which they came, how many there are, and the place after which the next page begins. */
export async function listUsers(
  request: Pick<PageRequest, 'limit' | 'offset' | 'after'>,
): Promise<{ count: number; users: User[]; next?: SortValue }> {
  const [count, { entries, next }]: [number, Page] = await Promise.all([
    readUsersTotal(),
    request.limit === 0
      ? { entries: [] }
      : readPage(allUsers, { ...request, order: 'date', descending: false }),
  ]);
  const ids = entries.map(({ pk }) => pk.slice('USER#'.length));
  const users = await findUsers(ids);
  return { count, users: ids.flatMap((id) => users.get(id) ?? []), next };
}
