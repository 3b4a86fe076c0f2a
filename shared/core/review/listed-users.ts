// The users whom the API lists: everybody, as the specification says, or authors alone.
import { getItems } from '../../base/table/batch.ts';
import { countsKey } from '../keys.ts';
import type { User } from '../user/user.ts';
import { countsIn } from './owner-counts.ts';

/** Returns the users on the list. With USER_LIST=authors, each has a public review. */
export async function listedOf(users: readonly User[]): Promise<readonly User[]> {
  if (process.env.USER_LIST !== 'authors') return users;
  const counts = await getItems(users.map(({ id }) => countsKey(id)));
  return users.filter((_, i) => countsIn(counts[i]).all > 0);
}
