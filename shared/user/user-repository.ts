import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest, invalidToken, notFound } from '../errors.ts';
import { batchGet, getItems } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { contactKey, idIn, userKey } from '../table/keys.ts';
import { parseItem } from '../table/parse.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { putNew, retryStale, transact, tryUpdate, type Write } from '../table/transact.ts';
import { contactItem } from './mails.ts';
import {
  checkName,
  holdFreeName,
  holdName,
  isModeratorName,
  keysOfName,
  nameAsRead,
  namesRole,
  newKeysOf,
  releaseName,
} from './moderator-name.ts';
import { newsName, unreadNews } from './news.ts';
import { Contact, parseUser, parseUsers, User, whereAlive } from './user.ts';
import { mayWrite, refuseBlocked } from './writer.ts';

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

/** Creates an account with a new id. Throws ApiError 400 for the name of a moderator, or a role. */
export async function insertUser(profile: Pick<User, 'display_name'> & Contact): Promise<User> {
  const { display_name, ...contact } = profile;
  const user = { display_name, id: randomUUID(), created: new Date().toISOString(), karma: 0 };
  if (namesRole(display_name)) throw nameOfRole();
  return retryStale(async () => {
    if (await isModeratorName(keysOfName(display_name))) throw nameOfModerator();
    await transact(accountWrites(user, contact));
    return user;
  });
}

/**
 * Returns the writes of a new account. They fail, as a stale read, if a moderator has the name.
 * `version` must exceed that of a deleted one with this id.
 */
export function accountWrites(user: User, contact: Contact | null, version = 1): Write[] {
  const keys = keysOfName(user.display_name);
  const writes: Write[] = [
    putNew(userItem(user, version)),
    ...(user.is_moderator ? holdName(keys) : checkName(keys)),
  ];
  if (contact) writes.push({ Put: { Item: contactItem(user.id, contact) } });
  return writes;
}

/** The item of a new user. `version` rises with every count and the deletion. */
export function userItem(user: User, version = 1) {
  const { id, created, is_moderator } = user;
  const lists = { all: 'USER', ...(is_moderator && { author: moderatorList }) };
  return { ...userKey(id), ...lists, date: `${created}#${id}`, ...user, version };
}

/** The list of all moderators. */
const moderatorList = 'MODERATOR';

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

/**
 * Changes the given fields of a profile. Null removes the email address. A changed name is no
 * longer a proposal. Throws ApiError 401 if the account was deleted, 403 if it is blocked, 400 for
 * the name of a moderator or of a role. A person who has that name already may keep it.
 */
export async function updateProfile(
  id: string,
  { display_name, email }: Partial<Pick<User, 'display_name'> & Pick<Contact, 'email'>>,
): Promise<void> {
  if (display_name === undefined && email === undefined) return;
  await retryStale(async () => {
    const account = await findAccount(id);
    if (!account) throw invalidToken();
    const { user, contact } = account;
    refuseBlocked(user);
    const own = { Key: userKey(id), ConditionExpression: mayWrite, was: named(user) };
    const writes: Write[] = [];
    if (display_name === undefined) {
      writes.push({ ConditionCheck: own });
    } else {
      const set = { display_name, has_proposed_name: undefined };
      writes.push({ Update: { ...own, set } }, ...(await renaming(user, display_name)));
    }
    if (email !== undefined && email !== contact.email) {
      // Nobody has verified what a person writes.
      const set = { email, email_verified: undefined };
      writes.push({ Update: { Key: contactKey(id), set } });
    }
    await transact(writes);
  });
}

/** Returns the writes that the new name of a user needs. Throws ApiError 400 like its caller. */
async function renaming({ display_name, is_moderator }: User, name: string): Promise<Write[]> {
  if (!is_moderator && nameAsRead(name) === nameAsRead(display_name)) return [];
  if (!is_moderator && namesRole(name)) throw nameOfRole();
  const added = newKeysOf(name, display_name);
  if (await isModeratorName(added)) throw nameOfModerator();
  if (!is_moderator) return checkName(added);
  return [...holdFreeName(added), ...(await releaseName(newKeysOf(display_name, name)))];
}

/** Attributes of a user that the writes of a name depend on. */
export function named({ display_name, is_moderator }: User) {
  return { display_name, is_moderator };
}

const nameOfRole = () =>
  invalidRequest('display_name must not name a role, such as moderator or admin');

const nameOfModerator = () =>
  invalidRequest('display_name must be another name: a moderator of this service has it');

/**
 * Makes somebody a moderator, whose name nobody else can take from then on, or ends that.
 * Idempotent. Throws ApiError 404 if there is no such user, 403 if the account is blocked.
 */
export async function setModerator(id: string, isModerator: boolean): Promise<void> {
  await retryStale(async () => {
    const user = await getUser(id);
    if (isModerator) refuseBlocked(user);
    if ((user.is_moderator ?? false) === isModerator) return;
    const keys = keysOfName(user.display_name);
    await transact([
      {
        Update: {
          Key: userKey(id),
          set: {
            is_moderator: isModerator || undefined,
            author: isModerator ? moderatorList : undefined,
          },
          ConditionExpression: isModerator ? mayWrite : whereAlive,
          was: named(user),
        },
      },
      ...(isModerator ? holdName(keys) : await releaseName(keys)),
    ]);
  });
}

/** Ends all current sessions of a user. Throws ApiError 401 if the account was deleted. */
export async function endSessions(id: string): Promise<void> {
  await transact([
    {
      Update: {
        Key: userKey(id),
        set: { signed_out: Date.now() },
        ConditionExpression: whereAlive,
      },
      otherwise: invalidToken(),
    },
  ]);
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
