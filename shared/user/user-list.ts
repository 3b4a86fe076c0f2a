import { readUsersTotal } from '../feed/totals.ts';
import { readEntries } from '../table/read-entries.ts';
import type { User } from './user.ts';
import { findUsers } from './user-repository.ts';

/** A page of all users in the order in which they came, and how many there are. */
export async function listUsers(
  limit: number,
  offset: number,
): Promise<{ count: number; users: User[] }> {
  const [count, entries] = await Promise.all([
    readUsersTotal(),
    readEntries([{ scope: 'all', value: 'USER' }], {
      order: 'date',
      descending: false,
      skip: offset,
      take: limit,
    }),
  ]);
  const ids = entries.map(({ pk }) => pk.slice('USER#'.length));
  const users = await findUsers(ids);
  return { count, users: ids.flatMap((id) => users.get(id) ?? []) };
}
