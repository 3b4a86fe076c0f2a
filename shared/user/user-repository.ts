import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { invalidToken, notFound } from '../errors.ts';
import { batchGet } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { contactKey, idIn, userKey } from '../table/keys.ts';
import { getItem, queryIndex } from '../table/query.ts';
import { putNew, transact, type Write } from '../table/transact.ts';
import { Contact, isAlive, listedUser, parseUser, type User } from './user.ts';
import { checkWriter, mayWrite, type Writer, writeAs } from './writer.ts';

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

/** The users with these ids, by id; those that do not exist are left out. */
export async function findUsers(
  ids: readonly string[],
  options?: Parameters<typeof batchGet>[1],
): Promise<Map<string, User>> {
  const distinct = [...new Set(ids)];
  return pickUsers(distinct, await batchGet(distinct.map(userKey), options));
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

/** A user with what only its person sees. */
export interface Account {
  user: User;
  contact: Contact;
}

/** Undefined as of `findUser`. */
export async function findAccount(id: string): Promise<Account | undefined> {
  const [account] = await findAccounts([id]);
  return account;
}

/** All accounts, oldest first, page by page. For operators. */
export async function* listAccounts(): AsyncGenerator<Account[]> {
  // Two items of each fill one batch.
  for await (const entries of queryIndex('all-by-date', 'USER', { pageSize: 50 })) {
    yield findAccounts(entries.map(idIn));
  }
}

async function findAccounts(ids: readonly string[]): Promise<Account[]> {
  const keys = ids.flatMap((id) => [userKey(id), contactKey(id)]);
  const items = await batchGet(keys, { consistent: true });
  return ids.flatMap((id) => {
    const user = parseUser(items.get(keyString(userKey(id))));
    // Accounts that came without any have no item of their own for it.
    const contact = items.get(keyString(contactKey(id))) ?? {};
    return user ? [{ user, contact: v.parse(Contact, contact) }] : [];
  });
}

/** Creates an account. */
export async function insertUser({
  display_name,
  ...contact
}: Pick<User, 'display_name'> & Contact): Promise<User> {
  const user = { display_name, id: randomUUID(), created: new Date().toISOString(), karma: 0 };
  await transact(accountWrites(user, contact));
  return user;
}

/**
 * The writes that create an account, of a `version` above those of one with this id that was
 * deleted.
 */
export function accountWrites(user: User, contact: Contact | null, version = 1): Write[] {
  const Item = { ...userItem(user), version };
  return [
    putNew(Item),
    ...(contact ? [{ Put: { Item: { ...contactKey(user.id), ...contact } } }] : []),
  ];
}

/**
 * The item of a user that has just been created. Its `version` rises with all that is counted for
 * the user, and with the deletion.
 */
export function userItem(user: User) {
  return { ...userKey(user.id), ...listedUser(user), ...user, version: 1 };
}

/**
 * Changes what is given of a profile; null takes the email address away, and a name is no proposal from now on. Throws ApiError 401 when the account
 * is gone, 403 when it is blocked.
 */
export async function updateProfile(
  id: string,
  { display_name, email }: Partial<Pick<User, 'display_name'> & Pick<Contact, 'email'>>,
): Promise<void> {
  if (display_name === undefined && email === undefined) return;
  const set = { display_name, has_proposed_name: undefined };
  const ofUser = ({ ConditionExpression, otherwise }: Writer): Write => ({
    Update: { Key: userKey(id), set, ConditionExpression },
    otherwise,
  });
  await writeAs(id, (writer) =>
    transact([
      display_name === undefined ? checkWriter(id, writer) : ofUser(writer),
      ...(email === undefined ? [] : [{ Update: { Key: contactKey(id), set: { email } } }]),
    ]),
  );
}

/** Makes a user a moderator, or no longer one. Throws ApiError 404 when there is no such user, 403 when the account is blocked. */
export async function setModerator(id: string, isModerator: boolean): Promise<void> {
  const set = { is_moderator: isModerator || undefined };
  const ConditionExpression = isModerator ? mayWrite : isAlive;
  const update = { Update: { Key: userKey(id), set, ConditionExpression } };
  await writeAs(id, ({ otherwise }) => transact([{ ...update, otherwise }]), notFound('User'));
}

/** Ends all sessions that the user has begun so far. Throws ApiError 401 when the account is gone. */
export async function endSessions(id: string): Promise<void> {
  const set = { signed_out: Date.now() };
  await transact([
    { Update: { Key: userKey(id), set, ConditionExpression: isAlive }, otherwise: invalidToken() },
  ]);
}
