import { randomUUID } from 'node:crypto';
import { invalidToken, notFound } from '../errors.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { userKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { transact } from '../table/transact.ts';
import { isAlive, listedUser, parseUser, type User } from './user.ts';

/** Throws ApiError 404. */
export async function getUser(id: string): Promise<User> {
  const user = await findUser(id);
  if (!user) throw notFound('User');
  return user;
}

/** Undefined when there is no such account, or it is being erased. */
export async function findUser(id: string): Promise<User | undefined> {
  const item = await getItem(userKey(id));
  return parseUser(item);
}

/** The users with these ids, by id; those that do not exist are left out. At most 100 distinct ids. */
export async function findUsers(
  ids: readonly string[],
  options?: { consistent: boolean },
): Promise<Map<string, User>> {
  const items = await batchGet(ids.map(userKey), options);
  return pickUsers(ids, items);
}

/** Of a batch of items, the users with these ids, by id. */
export function pickUsers(
  ids: readonly string[],
  items: ReadonlyMap<string, Record<string, unknown>>,
): Map<string, User> {
  return new Map(
    ids.flatMap((id) => {
      const user = parseUser(items.get(keyString(userKey(id))));
      return user ? [[id, user] as const] : [];
    }),
  );
}

/** Creates an account. */
export async function insertUser(
  profile: Pick<User, 'display_name' | 'email' | 'musicdb_username'>,
): Promise<User> {
  const user = { ...profile, id: randomUUID(), created: new Date().toISOString(), karma: 0 };
  await transact([
    { Put: { Item: userItem(user), ConditionExpression: 'attribute_not_exists(pk)' } },
  ]);
  return user;
}

/** The item of a user that has just been created. Its `version` counts what matters to the totals: being there, or not. */
export function userItem(user: User) {
  return { ...userKey(user.id), ...listedUser(user), ...user, version: 1 };
}

/** Changes what is given of a profile; null takes the email address away, and a name is no proposal from now on. Throws ApiError 401 when the account is gone. */
export async function updateProfile(
  id: string,
  change: Partial<Pick<User, 'display_name' | 'email' | 'signed_out'>>,
): Promise<void> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  if (given.length === 0) return;
  const isNamed = change.display_name !== undefined;
  await transact([
    {
      Update: {
        Key: userKey(id),
        UpdateExpression: `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}${isNamed ? ' REMOVE has_proposed_name' : ''}`,
        ConditionExpression: isAlive,
        ExpressionAttributeNames: Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(given.map(([name, to]) => [`:${name}`, to])),
      },
      otherwise: invalidToken(),
    },
  ]);
}
