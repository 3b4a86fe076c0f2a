import * as v from 'valibot';
import { invalidToken, notFound } from '../../base/errors.ts';
import { batchGet, getItems } from '../../base/table/batch.ts';
import { idIn, keyString } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { transact, tryUpdate, type Update } from '../../base/table/transact.ts';
import { contactKey, userKey } from '../keys.ts';
import { newsName, unreadNews } from './news.ts';
import { Contact, parseUser, parseUsers, User, whereAlive } from './user.ts';

/** Throws ApiError 404 if there is none. */
export async function getUser(id: string): Promise<User> {
  const user = await findUser(id);
  if (!user) throw notFound('User');
  return user;
}

/** Attributes of a user. An item also has those of its index. */
const attributes = [...Object.keys(User.entries), 'deleted_at'];

/** Returns undefined if the account does not exist or is being erased. */
export async function findUser(id: string, { consistent = true } = {}): Promise<User | undefined> {
  return parseUser(await getItem(userKey(id), { attributes, consistent }));
}

/** Returns the existing users with these ids, by id. */
export async function findUsers(
  ids: readonly string[],
  options?: Parameters<typeof batchGet>[1],
): Promise<Map<string, User>> {
  const items = await getItems([...new Set(ids)].map(userKey), options);
  const users = parseUsers(items);
  return new Map(users.map((user) => [user.id, user]));
}

/** A user with private contact data. */
export interface Account {
  user: User;
  contact: Contact;
}

/** Returns undefined like `findUser`. */
export async function findAccount(id: string): Promise<Account | undefined> {
  const [item, contact = {}] = await getItems([userKey(id), contactKey(id)], { consistent: true });
  const user = parseUser(item);
  return user && { user, contact: v.parse(Contact, contact) };
}

/** Lists all accounts, oldest first, page by page. For operators. */
export async function* listAccounts(): AsyncGenerator<Account[]> {
  // 50 accounts have 100 items, the size of a batch.
  for await (const entries of queryIndex('all-by-date', 'USER', { pageSize: 50 })) {
    const ids = entries.map(idIn);
    const keys = ids.flatMap((id) => [userKey(id), contactKey(id)]);
    const items = await batchGet(keys, { consistent: true });
    const users = parseUsers(ids.map((id) => items.get(keyString(userKey(id)))));
    yield users.flatMap((user) => {
      const item = items.get(keyString(contactKey(user.id)));
      const contact = item ? parseItem(Contact, item) : noContact;
      return contact ? [{ user, contact }] : [];
    });
  }
}

/** An account imported without contact data has no item for it. */
const noContact: Contact = { email: null, musicdb_username: null };

/** The item of a new user. `version` rises with every count and the deletion. */
export function userItem(user: User, version = 1) {
  const { id, created, is_moderator } = user;
  const lists = { all: 'USER', ...(is_moderator && { author: moderatorList }) };
  return { ...userKey(id), ...lists, date: `${created}#${id}`, ...user, version };
}

/** The list of all moderators. */
export const moderatorList = 'MODERATOR';

/**
 * The most moderators that are read at once. A service with more tells the newest ones nothing by
 * mail: its operator, who appoints each, feels it.
 */
const mostModerators = 100;

/** Returns the ids of moderators, the oldest accounts first. Some may have been deleted. */
export async function listModerators(): Promise<string[]> {
  const entries = queryIndex('author-by-date', moderatorList, { pageSize: mostModerators });
  return (await collect(entries, mostModerators)).map(idIn);
}

/** Lists a moderator whom older code has appointed. */
export async function listAsModerator({ id }: User): Promise<void> {
  const was = { is_moderator: true, author: undefined };
  await tryUpdate({ Key: userKey(id), set: { author: moderatorList }, was });
}

/** Attributes of a user that the writes of a name depend on. */
export function named({ display_name, is_moderator }: User) {
  return { display_name, is_moderator };
}

/** Returns the update that ends all current sessions of a user, by default of an existing one. */
export function signOut(id: string, where = whereAlive): Update {
  return { Key: userKey(id), set: { signed_out: Date.now() }, where };
}

/** Ends all current sessions of a user. Throws ApiError 401 if the account was deleted. */
export async function endSessions(id: string): Promise<void> {
  await transact([{ Update: signOut(id), otherwise: invalidToken() }]);
}

/** Marks the news as read that somebody has seen. Later ones stay unread. */
export async function markRead(user: User): Promise<void> {
  const unread = unreadNews(user);
  if (unread.length === 0) return;
  // If another window has marked them, or something is new, the next visit shows the rest.
  const was = Object.fromEntries(unread.map(([kind, count]) => [newsName(kind), count]));
  const set = Object.fromEntries(unread.map(([kind]) => [newsName(kind), undefined]));
  await tryUpdate({ Key: userKey(user.id), set, was });
}
